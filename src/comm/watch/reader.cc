#include "comm/watch/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"
#include "os/process.h"
#include "os/small_file.h"

namespace tutti::comm::watch {

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Recorders among its open files: usually one, and one more for each ancestor that it was forked from.
Result<std::vector<std::string>> find_segments(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/fd", pid);
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(path.c_str()));
  if (folder == nullptr) {
    const int error = errno;
    if (error == EACCES || error == EPERM) {
      return Status(Code::invalid_usage,
                    fmt::format("may not look at process {}: it belongs to another user; run this as that user or as "
                                "root",
                                pid));
    }
    return invalid_argument(fmt::format("cannot look at process {}: {}", pid, os::error_text(error)));
  }
  const std::string wanted = fmt::format("/memfd:{}", kSegmentName);
  std::vector<std::string> found;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string link = fmt::format("{}/{}", path, entry->d_name);
    char target[256];
    const ssize_t bytes = readlink(link.c_str(), target, sizeof(target));
    if (bytes > 0 && std::string_view(target, static_cast<std::size_t>(bytes)).starts_with(wanted)) {
      found.push_back(link);
    }
  }
  return found;
}

// A process in a container has several numbers; its recorder holds the innermost.
bool is_pid_of(std::uint32_t own, pid_t pid) {
  if (own == static_cast<std::uint32_t>(pid)) return true;
  const std::string status = os::read_small_file(fmt::format("/proc/{}/status", pid)).value_or("");
  for (const std::string_view line : text::split(status, '\n')) {
    if (!line.starts_with("NSpid:")) continue;
    const auto words = text::words(line);
    return text::integer_of<std::uint32_t>(words.back()) == own;
  }
  return false;
}

bool read_at(int fd, void* target, std::size_t bytes, std::size_t at) {
  auto* next = static_cast<std::byte*>(target);
  while (bytes > 0) {
    const ssize_t got = pread(fd, next, bytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    at += static_cast<std::size_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

// Copies rather than a mapping: what was copied cannot change or vanish while it is looked at.
std::vector<Recording> read_pages(int fd, const SegmentHead& head) {
  const auto source = static_cast<os::TickSource>(head.tick_source);
  PageCopies copies;
  copies.first.resize(sizeof(SidePage) / 8);
  copies.second.resize(sizeof(SidePage) / 8);
  std::vector<Recording> all;
  for (std::size_t i = 0; i < kPagesMax; ++i) {
    const std::size_t at = kHeadBytes + i * sizeof(SidePage);
    std::uint64_t life = 0;
    // Pages are used from the first on, so behind one that never was there is nothing.
    if (!read_at(fd, &life, sizeof(life), at) || life == static_cast<std::uint64_t>(Life::none)) break;
    const os::TickPoint taken = os::tick_point(source);
    if (!read_at(fd, copies.first.data(), sizeof(SidePage), at)) break;
    if (!read_at(fd, copies.second.data(), sizeof(SidePage), at)) break;
    if (auto recording = decode(head, copies, taken)) all.push_back(*std::move(recording));
  }
  return all;
}

}  // namespace

Result<std::vector<Recording>> read_process(pid_t pid) {
  if (pid <= 0) return invalid_argument(fmt::format("{} is no process id", pid));
  const os::ProcessState state = os::state_of(pid);
  if (state == os::ProcessState::gone) {
    return invalid_argument(fmt::format("there is no process {}; it may have ended", pid));
  }
  if (state == os::ProcessState::zombie) {
    return invalid_argument(fmt::format("process {} has ended and left nothing to look at", pid));
  }
  TUTTI_ASSIGN(const auto links, find_segments(pid));
  for (const std::string& link : links) {
    const os::FileDescriptor file(open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    SegmentHead head{};
    if (!file.is_open() || !read_at(file.get(), &head, sizeof(head), 0) || !is_pid_of(head.pid, pid)) continue;
    if (const Status valid = validate(head); !valid) return valid.while_doing(fmt::format("process {}", pid));
    return read_pages(file.get(), head);
  }
  const std::string name = os::read_small_file(fmt::format("/proc/{}/comm", pid)).value_or("?");
  return invalid_argument(fmt::format(
      "process {} ({}) has no flight recorder: it does not use Tutti, has made no communicator yet, or may not create "
      "memfd segments",
      pid, name));
}

}  // namespace tutti::comm::watch
