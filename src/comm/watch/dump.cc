#include "comm/watch/dump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "comm/watch/json.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"

namespace tutti::comm::watch {

namespace {

constexpr std::size_t kJobBytesMax = 64;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What may stand in the name of a file anywhere.
std::string harmless(std::string text) {
  if (text.size() > kJobBytesMax) text.resize(kJobBytesMax);
  for (char& c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_harmless = is_letter || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (!is_harmless) c = '_';
  }
  return text;
}

Status write_file(const std::string& path, std::string_view text) {
  const auto failure = [&](int error) {
    return Status(Code::invalid_argument,
                  fmt::format("cannot write the recording '{}': {}; set TUTTI_DUMP_DIR to a folder that exists and "
                              "that you may write to",
                              path, os::error_text(error)));
  };
  os::FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return failure(errno);
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failure(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

void dump(const std::string& folder, const Recording& recording) noexcept {
  try {
    const auto path = write_dump(folder, recording);
    if (path) {
      fmt::print(stderr, "tutti: the last calls of rank {} are in {}; 'tutti diagnose {}' reads those of all ranks\n",
                 recording.rank, *path, folder);
    } else {
      fmt::print(stderr, "tutti: {}\n", path.status().text());
    }
  } catch (const std::exception& error) {  // no memory left, or standard error is gone: the failure itself goes on
    std::fputs("tutti: cannot write the recording of the last calls\n", stderr);
  }
}

}  // namespace

std::string dump_folder() { return environment("TUTTI_DUMP_DIR"); }

std::string dump_name(const Recording& recording) {
  std::string job = environment("TUTTI_JOB_ID");
  if (job.empty()) job = environment("SLURM_JOB_ID");
  return fmt::format("tutti-{}{}{:016x}-rank{}-{}.json", harmless(job), job.empty() ? "" : "-", recording.communicator,
                     recording.rank, recording.pid);
}

Result<std::string> write_dump(const std::string& folder, const Recording& recording) {
  const std::string path = fmt::format("{}/{}", folder, dump_name(recording));
  const std::string unfinished = path + ".part";
  TUTTI_TRY(write_file(unfinished, json_of(recording)));
  if (rename(unfinished.c_str(), path.c_str()) == 0) return path;
  const int error = errno;
  unlink(unfinished.c_str());
  return Status(Code::invalid_argument,
                fmt::format("cannot rename the recording '{}': {}", unfinished, os::error_text(error)));
}

void dump_after_end(const Recording& recording) noexcept {
  const std::string folder = dump_folder();
  if (!folder.empty()) dump(folder, recording);
}

void dump_on_demand(std::span<const Recording> recordings) noexcept {
  const std::string folder = dump_folder();
  for (const Recording& recording : recordings) dump(folder.empty() ? "." : folder, recording);
}

}  // namespace tutti::comm::watch
