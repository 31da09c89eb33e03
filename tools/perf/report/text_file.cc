#include "tools/perf/report/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <system_error>

namespace tutti::perf {

namespace {

constexpr std::uint64_t kFileBytesMax = 256u << 20;  // a million iterations are a tenth of it

Status failure(const char* what, const std::string& path, const std::string& why) {
  return invalid_argument(fmt::format("cannot {} {}: {}", what, path, why));
}

std::string last_error() { return std::generic_category().message(errno); }

}  // namespace

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return failure("read", path, last_error());
  const auto size = static_cast<std::streamoff>(file.tellg());
  if (size < 0 || static_cast<std::uint64_t>(size) > kFileBytesMax)  // a folder says that it is very large
    return failure("read", path, fmt::format("it is no file of at most {} bytes", kFileBytesMax));
  std::string content(static_cast<std::size_t>(size), '\0');
  file.seekg(0);
  if (!file.read(content.data(), size)) return failure("read", path, "it is no file that can be read as a whole");
  return content;
}

Status write_text(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  return file ? Status() : failure("write", path, last_error());
}

}  // namespace tutti::perf
