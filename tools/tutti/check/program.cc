#include "tools/tutti/check/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>

#include "base/text.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"

namespace tutti::tool::check {

namespace {

constexpr int kLookMs = 20;  // how often the child is looked at while it says nothing

struct Pipe {
  os::FileDescriptor reader;
  os::FileDescriptor writer;
};

Result<Pipe> create_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Status(Code::out_of_memory, fmt::format("cannot make a pipe: {}", os::error_text(errno)));
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{os::FileDescriptor(ends[0]), os::FileDescriptor(ends[1])};
}

// Takes what is there; false: nothing will come any more.
bool drain(os::FileDescriptor& from, std::string& to) {
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    const std::size_t room = kProgramOutputBytesMax - std::min(kProgramOutputBytesMax, to.size());
    to.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  }
}

void wait_a_little(Pipe& out, Pipe& err) {
  std::array<pollfd, 2> polled{{{.fd = out.reader.get(), .events = POLLIN, .revents = 0},
                                {.fd = err.reader.get(), .events = POLLIN, .revents = 0}}};
  ::poll(polled.data(), polled.size(), kLookMs);  // closed descriptors are negative and left out
}

}  // namespace

Result<ProgramEnd> run_program(const std::vector<std::string>& words, Deadline deadline) {
  TUTTI_ASSIGN(Pipe out, create_pipe());
  TUTTI_ASSIGN(Pipe err, create_pipe());
  TUTTI_ASSIGN(os::ChildProcess child, os::ChildProcess::start({.words = words,
                                                                .environment = os::whole_environment(),
                                                                .output = out.writer.get(),
                                                                .error = err.writer.get()}));
  out.writer.close();
  err.writer.close();
  ProgramEnd result;
  std::optional<os::ProcessEnd> end;
  while (!end) {
    if (!result.is_late && deadline.has_passed(os::now())) {
      result.is_late = true;
      child.signal_group(SIGKILL);
    }
    wait_a_little(out, err);
    end = child.try_wait();
    if (out.reader.is_open() && !drain(out.reader, result.out)) out.reader.close();
    if (err.reader.is_open() && !drain(err.reader, result.err)) err.reader.close();
  }
  result.end = *end;
  return result;
}

std::string find_program(const std::string& name) {
  const std::string path = os::environment_variable("PATH").value_or("/usr/bin:/bin");
  for (const std::string_view folder : text::split(path, ':')) {
    std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string first_line(const std::string& text) {
  for (const std::string_view line : text::split(text, '\n')) {
    if (!text::trim(line).empty()) return std::string(text::trim(line));
  }
  return "";
}

}  // namespace tutti::tool::check
