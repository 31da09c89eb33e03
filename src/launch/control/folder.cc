#include "launch/control/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/environment.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"

namespace tutti::launch::control {

namespace {

bool is_name_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '-' || character == '_' || character == '.';
}

// What is opened is what is looked at, and a link in its place is not followed.
Status validate_folder(const std::string& path) {
  const os::FileDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!folder.is_open() || fstat(folder.get(), &found) != 0) {
    return invalid_argument(fmt::format("cannot use '{}' for the sockets of jobs: {}; it must be a folder of yours",
                                        path, os::error_text(errno)));
  }
  if (found.st_uid != geteuid()) {
    return invalid_argument(
        fmt::format("cannot use '{}' for the sockets of jobs: it belongs to user {}; set "
                    "XDG_RUNTIME_DIR to a folder of yours",
                    path, found.st_uid));
  }
  if ((found.st_mode & 077) != 0) {
    return invalid_argument(
        fmt::format("cannot use '{}' for the sockets of jobs: its mode {:o} lets others in; run "
                    "'chmod 700 {}'",
                    path, found.st_mode & 07777, path));
  }
  return {};
}

}  // namespace

Status validate_job_name(std::string_view name) {
  const bool is_plain =
      std::ranges::all_of(name, is_name_character) && !name.starts_with('.') && !name.starts_with('-');
  if (!name.empty() && name.size() <= kJobNameBytesMax && is_plain) return {};
  return invalid_argument(fmt::format("'{}' is no name for a job: one to {} letters, digits, '.', '-' and '_' are",
                                      name.substr(0, 2 * kJobNameBytesMax), kJobNameBytesMax));
}

std::vector<std::string> job_folders() {
  const uid_t user = geteuid();
  std::vector<std::string> folders;
  const std::string runtime = os::environment_variable("XDG_RUNTIME_DIR").value_or("");
  if (runtime.starts_with('/')) folders.push_back(runtime + "/tutti");
  folders.push_back(fmt::format("/tmp/tutti-{}-jobs", user));
  const std::string usual = fmt::format("/run/user/{}/tutti", user);
  if (folders.front() != usual) folders.push_back(usual);
  return folders;
}

Status prepare_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return invalid_argument(
        fmt::format("cannot make the folder '{}' for the sockets of jobs: {}", path, os::error_text(errno)));
  }
  return validate_folder(path);
}

bool is_safe_folder(const std::string& path) { return validate_folder(path).is_ok(); }

}  // namespace tutti::launch::control
