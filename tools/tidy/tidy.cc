#include "tools/tidy/tidy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <tuple>

#include "tools/tidy/layers.h"
#include "tools/tidy/rules.h"

namespace tutti::tidy {

namespace fs = std::filesystem;

namespace {

constexpr std::array kFolders = {"include",  "src",   "tools", "tests",  "bench",
                                 "examples", "cmake", "docs",  "python", "scripts"};

Source read(const fs::path& root, const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return source_of(path.lexically_relative(root).generic_string(), text);
}

// Build settings and scripts obey the limits on lengths alone.
bool is_script(const fs::path& path) {
  const std::string extension = path.extension().string();
  return path.filename() == "CMakeLists.txt" || extension == ".cmake" || extension == ".sh" || extension == ".py";
}

void check_file(const Layers& layers, const Source& source, std::vector<Fault>& faults) {
  check_lengths(source, faults);
  if (!is_cpp(source.path)) return;
  check_layers(layers, source, faults);
  check_functions(source, faults);
  check_header(source, faults);
  check_comments(source, faults);
  check_conditions(source, faults);
}

}  // namespace

Report check_tree(const fs::path& root) {
  Report report;
  std::error_code error;
  if (!fs::is_regular_file(root / "layers.txt", error)) {
    report.faults.push_back(
        {"layers.txt", 0, fmt::format("not found in {}; name the root of the tree", root.string())});
    return report;
  }
  const Layers layers = layers_of(read(root, root / "layers.txt"), report.faults);
  for (const char* folder : kFolders) {
    if (!fs::is_directory(root / folder, error)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file()) continue;
      check_name(entry.path().lexically_relative(root).generic_string(), report.faults);
      if (!is_cpp(entry.path()) && !is_script(entry.path())) continue;
      ++report.file_count;
      check_file(layers, read(root, entry.path()), report.faults);
    }
  }
  const auto place = [](const Fault& fault) { return std::tie(fault.file, fault.line, fault.message); };
  std::sort(report.faults.begin(), report.faults.end(),
            [&](const Fault& a, const Fault& b) { return place(a) < place(b); });
  return report;
}

}  // namespace tutti::tidy
