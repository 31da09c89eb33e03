#include "tools/tutti/perf_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tools/tutti/command.h"

namespace tutti::tool {

namespace {

struct Measured {
  std::string_view name;
  std::string_view summary;
};

constexpr std::array kMeasured = {
    Measured{"all_reduce", "Every rank gets the reduction of all inputs"},
    Measured{"all_gather", "Every rank gets the blocks of all"},
    Measured{"broadcast", "Every rank gets the root's data"},
    Measured{"reduce_scatter", "Every rank gets its block of the reduction"},
    Measured{"reduce", "The root gets the reduction"},
    Measured{"alltoall", "Every rank sends a block to every other"},
    Measured{"alltoallv", "The same with blocks of different sizes"},
    Measured{"scatter", "Every rank gets its block from the root"},
    Measured{"gather", "The root gets the blocks of all"},
    Measured{"sendrecv", "Every rank sends to the next in a ring"},
    Measured{"hypercube", "An all-gather by exchanges with neighbours in a cube"},
};

struct NoOptions {};

}  // namespace

std::optional<int> try_perf_tool(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[0] != "perf") return std::nullopt;
  const bool is_known = std::ranges::any_of(kMeasured, [&](const Measured& tool) { return tool.name == arguments[1]; });
  if (!is_known) return std::nullopt;
  // The tools lie beside this command.
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (self.parent_path() / (arguments[1] + "_perf")).string();
  std::vector<char*> words = {const_cast<char*>(path.c_str())};
  for (std::size_t i = 2; i < arguments.size(); ++i) words.push_back(const_cast<char*>(arguments[i].c_str()));
  words.push_back(nullptr);
  ::execv(path.c_str(), words.data());
  fmt::print(stderr, "tutti perf: cannot run {}: {}; it is built and installed with this command\n", path,
             std::strerror(errno));
  return kExitFailed;
}

void add_perf_command(CLI::App& root, Commands& commands) {
  CLI::App& perf =
      commands.add_group(root, {.name = "perf",
                                .summary = "Measure a collective as nccl-tests does, and check every result",
                                .examples = "tutti perf all_reduce -b 8 -e 128M -f 2\n"
                                            "tutti perf all_gather -t 2 -g 4 --report report.html\n"
                                            "tutti perf all_reduce --help"});
  for (const Measured& tool : kMeasured) {
    const std::string example = fmt::format("tutti perf {} --help", tool.name);
    // Never run: try_perf_tool() comes first. They are here for help, completions and the manual page.
    commands.add<NoOptions>(
        perf, {.name = tool.name, .summary = tool.summary, .examples = example}, [](CLI::App&, NoOptions&) {},
        [](const NoOptions&) { return kExitUsage; });
  }
}

}  // namespace tutti::tool
