#include "tools/tutti/facade_paths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

namespace tutti::tool {

namespace {

namespace fs = std::filesystem;

struct Needed {
  fs::path folder;
  std::string_view file;  // that must be in it
};
struct Layout {
  std::array<Needed, 2> libraries;
  std::array<Needed, 2> headers;
};

// The source tree that a build tree is of; nullopt: this is no build tree.
std::optional<fs::path> source_of(const fs::path& build) {
  constexpr std::string_view kHome = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  std::ifstream cache(build / "CMakeCache.txt");
  for (std::string line; std::getline(cache, line);) {
    if (line.starts_with(kHome)) return fs::path(line.substr(kHome.size()));
  }
  return std::nullopt;
}

Layout layout_of(const fs::path& executable) {
  const fs::path bin = executable.parent_path();
  const fs::path build = bin.parent_path();
  if (const auto source = source_of(build)) {
    return {.libraries = {{{build / "lib/nccl", "libnccl.so.2"}, {build / "lib/cudart", "libcudart.so"}}},
            .headers = {{{*source / "include", "nccl.h"}, {*source / "include/cudart", "cuda_runtime.h"}}}};
  }
  const fs::path prefix = (bin / TUTTI_BIN_TO_PREFIX).lexically_normal();
  const fs::path libraries = prefix / TUTTI_LIBDIR / "tutti";
  const fs::path headers = prefix / TUTTI_INCLUDEDIR;
  return {.libraries = {{{libraries / "nccl", "libnccl.so.2"}, {libraries / "cudart", "libcudart.so"}}},
          .headers = {{{headers / "tutti-nccl", "nccl.h"}, {headers / "tutti-cudart", "cuda_runtime.h"}}}};
}

std::vector<fs::path> take(const std::array<Needed, 2>& needed, std::vector<std::string>& missing) {
  std::vector<fs::path> folders;
  for (const auto& [folder, file] : needed) {
    std::error_code error;
    if (!fs::exists(folder / file, error)) missing.push_back((folder / file).string());
    folders.push_back(folder);
  }
  return folders;
}

std::string shell_word_of(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string export_line(std::string_view name, const std::vector<fs::path>& folders) {
  std::vector<std::string> texts;
  for (const fs::path& folder : folders) texts.push_back(folder.string());
  return fmt::format("export {0}={1}\"${{{0}:+:${0}}}\"\n", name,
                     shell_word_of(fmt::format("{}", fmt::join(texts, ":"))));
}

}  // namespace

Result<FacadePaths> find_facades(const fs::path& executable) {
  const Layout layout = layout_of(executable);
  std::vector<std::string> missing;
  FacadePaths paths{.libraries = take(layout.libraries, missing), .headers = take(layout.headers, missing)};
  if (missing.empty()) return paths;
  return Status(Code::unsupported,
                fmt::format("{} {} not there; build everything ('ninja') or install it whole ('cmake --install')",
                            fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are"));
}

std::string shell_lines(const FacadePaths& paths) {
  return export_line("LD_LIBRARY_PATH", paths.libraries) + export_line("LIBRARY_PATH", paths.libraries) +
         export_line("CPATH", paths.headers);
}

}  // namespace tutti::tool
