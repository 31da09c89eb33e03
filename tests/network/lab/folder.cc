#include "tests/network/lab/folder.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "os/error_text.h"

namespace tutti::lab {

Result<Folder> Folder::create() {
  char path[] = "/tmp/tutti-lab-XXXXXX";
  if (::mkdtemp(path) == nullptr) return Status(Code::internal, "making a folder in /tmp: " + os::error_text(errno));
  Folder folder(path);
  if (::chmod(path, 0755) != 0) return Status(Code::internal, fmt::format("{}: {}", path, os::error_text(errno)));
  return folder;
}

Folder::~Folder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return {Code::internal, fmt::format("{} cannot be written", path)};
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace tutti::lab
