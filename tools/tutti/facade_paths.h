// Where our own libnccl.so.2 and libcudart and their headers lie, seen from the command tutti.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tutti/status.h"

namespace tutti::tool {

struct FacadePaths {
  std::vector<std::filesystem::path> libraries;
  std::vector<std::filesystem::path> headers;
};

// Of the build tree or of the installed one that the command is in. Fails with the places where something is missing.
Result<FacadePaths> find_facades(const std::filesystem::path& executable);

// Lines for a shell that make compilers and programs use them.
std::string shell_lines(const FacadePaths& paths);

}  // namespace tutti::tool
