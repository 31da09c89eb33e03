// Ranks as processes: forked, watched, and gone when the test ends. The test's own process must not have a heap or
// threads of the library, since children inherit neither.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "os/clock.h"

namespace tutti::conformance {

class Crew {
 public:
  // What a member says last; empty: all went well.
  using Work = std::function<std::string(int)>;

  explicit Crew(int count, const Work& work, unsigned seconds_max = 60) {
    for (int index = 0; index < count; ++index) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
      const pid_t parent = ::getpid();
      const pid_t child = ::fork();
      if (child == 0) {
        ::close(ends[0]);
        live(parent, ends[1], seconds_max, [&] { return work(index); });
      }
      ::close(ends[1]);
      members_.push_back({.pid = child, .pipe = ends[0], .text = {}});
    }
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    for (const Member& member : members_) {
      if (!member.has_ended) ::kill(member.pid, SIGKILL);
    }
    for (Member& member : members_) wait(member);
  }

  pid_t pid(int index) const { return members_[static_cast<std::size_t>(index)].pid; }
  void send(int index, int signal) const { ::kill(pid(index), signal); }

  // What each said, or how it ended. A member that has not ended by then is killed: "late".
  std::vector<std::string> finish(std::chrono::nanoseconds limit = std::chrono::seconds(60)) {
    const Deadline deadline = Deadline::after(os::now(), limit);
    std::vector<std::string> texts;
    for (Member& member : members_) {
      read(member, deadline);
      wait(member);
      texts.push_back(member.text);
    }
    return texts;
  }

 private:
  struct Member {
    pid_t pid;
    int pipe;
    std::string text;
    bool has_ended = false;
  };

  [[noreturn]] static void live(pid_t parent, int pipe, unsigned seconds_max,
                                const std::function<std::string()>& work) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::alarm(seconds_max);  // a hang ends by itself
    const std::string text = work();
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t bytes = ::write(pipe, text.data() + written, text.size() - written);
      if (bytes <= 0) break;
      written += static_cast<std::size_t>(bytes);
    }
    ::_exit(0);
  }

  static void read(Member& member, Deadline deadline) {
    for (;;) {
      const Time now = os::now();
      const std::uint64_t left_ms = deadline.has_passed(now) ? 0 : (deadline.at.ns - now.ns) / 1'000'000 + 1;
      pollfd poll{.fd = member.pipe, .events = POLLIN, .revents = 0};
      if (::poll(&poll, 1, static_cast<int>(left_ms)) <= 0) {
        if (!deadline.has_passed(os::now())) continue;
        ::kill(member.pid, SIGKILL);
        member.text += "(late)";
        return;
      }
      char bytes[4096];
      const ssize_t count = ::read(member.pipe, bytes, sizeof(bytes));
      if (count <= 0) return;
      member.text.append(bytes, static_cast<std::size_t>(count));
    }
  }

  static void wait(Member& member) {
    if (member.has_ended) return;
    member.has_ended = true;
    int status = 0;
    while (::waitpid(member.pid, &status, 0) < 0 && errno == EINTR) {
    }
    ::close(member.pipe);
    if (WIFSIGNALED(status)) member.text += fmt::format("(ended by signal {})", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) member.text += fmt::format("(exit {})", WEXITSTATUS(status));
  }

  std::vector<Member> members_;
};

}  // namespace tutti::conformance
