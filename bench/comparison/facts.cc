#include "bench/comparison/facts.h"

#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "bench/comparison/processes.h"

namespace tutti::bench {

namespace {

constexpr double kLimitS = 10;

std::string output_of(std::vector<std::string> words) {
  const auto outcome = run_together({{std::move(words), {{"LC_ALL", "C"}}}}, kLimitS);
  return outcome && outcome->exit_code == 0 ? outcome->output : std::string();
}

// x86-64 and AArch64 spell /proc/cpuinfo differently; lscpu knows both.
std::string cpu_name() {
  const std::string description = output_of({"lscpu"});
  for (const std::string_view line : text::split(description, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && text::trim(line.substr(0, colon)) == "Model name") {
      return std::string(text::trim(line.substr(colon + 1)));
    }
  }
  return "unknown";
}

std::string kernel_name() {
  utsname name{};
  return uname(&name) == 0 ? fmt::format("{} {} {}", name.sysname, name.release, name.machine) : "unknown";
}

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace

Facts facts_of(const std::vector<std::string>& command) {
  Facts facts;
  facts.cpu = cpu_name();
  facts.cores = static_cast<int>(std::thread::hardware_concurrency());
  facts.kernel = kernel_name();
  std::ifstream huge_pages("/sys/kernel/mm/transparent_hugepage/enabled");
  std::getline(huge_pages, facts.huge_pages);
  const std::string commit =
      output_of({"git", "-C", TUTTI_SOURCE_DIR, "describe", "--always", "--dirty", "--abbrev=10"});
  facts.commit = commit.substr(0, commit.find('\n'));
  facts.date = date_text();
  facts.command = fmt::format("{}", fmt::join(command, " "));
  return facts;
}

}  // namespace tutti::bench
