#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "tools/tidy/tidy.h"

int main(int argument_count, char** arguments) {
  const std::string_view root = argument_count > 1 ? arguments[1] : ".";
  if (argument_count > 2 || root == "--help" || root == "-h") {
    fmt::print(
        "tutti-tidy [ROOT]: checks the tree at ROOT against its layers.txt and STYLE.md; exits 1 on any fault\n");
    return argument_count > 2 ? 2 : 0;
  }
  const auto report = tutti::tidy::check_tree(std::filesystem::path(root));
  for (const auto& fault : report.faults) fmt::print("{}\n", fault.text());
  if (!report.faults.empty()) {
    fmt::print("tidy: {} faults\n", report.faults.size());
    return 1;
  }
  fmt::print("tidy: {} files, no fault\n", report.file_count);
  return 0;
}
