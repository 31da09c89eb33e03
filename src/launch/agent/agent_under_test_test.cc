#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "base/text.h"
#include "launch/agent/agent_process.h"
#include "launch/agent/agent_under_test.h"
#include "os/clock.h"
#include "os/process.h"

namespace tutti::launch {

AgentUnderTest::AgentUnderTest(AgentSettings settings) : loop_(*os::EventLoop::create()) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  guard_ = ::fork();
  if (guard_ == 0) {
    ::close(ends[0]);
    const Status status = run_agent(std::move(settings), [&]() -> Result<AgentLine> {
      return AgentLine{.duct = create_socket_duct(os::FileDescriptor(ends[1]))};
    });
    ::_exit(status ? 0 : 1);
  }
  ::close(ends[1]);
  channel_ = std::make_unique<Channel>(*loop_, create_socket_duct(os::FileDescriptor(ends[0])), Greets::expects,
                                       static_cast<Channel::Owner&>(*this));
  channel_->start();
}

AgentUnderTest::~AgentUnderTest() {
  close();
  EXPECT_TRUE(wait_for_guard());
}

void AgentUnderTest::send(const Message& message, HostIndex host) {
  channel_->send(encode({.host = host, .message = message}));
}

Order shell_order(const std::string& script, Rank rank) {
  return {.command = {"sh", "-c", script},
          .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}},
          .local_size = 1,
          .ranks = {{.rank = rank, .local_rank = 0}}};
}

void AgentUnderTest::begin(const std::string& script, Rank rank) { begin(shell_order(script, rank)); }
void AgentUnderTest::begin(Order order) { send(Begin{std::move(order)}); }

bool AgentUnderTest::until(const std::function<bool()>& is_done) {
  return loop_->run_until(is_done, Deadline::after(os::now(), kLimit));
}

void AgentUnderTest::close() { channel_.reset(); }

pid_t AgentUnderTest::agent() {
  EXPECT_TRUE(wait_for<Hello>());
  return all<Hello>().empty() ? 0 : all<Hello>().front().pid;
}

bool AgentUnderTest::wait_for_guard() {
  if (is_waited_for_) return true;
  const os::FileDescriptor descriptor(static_cast<int>(::syscall(SYS_pidfd_open, guard_, 0)));
  pollfd ended{.fd = descriptor.get(), .events = POLLIN, .revents = 0};
  is_waited_for_ = ::poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(kLimit).count())) == 1;
  if (!is_waited_for_) ::kill(guard_, SIGKILL);
  ::waitpid(guard_, nullptr, 0);
  return std::exchange(is_waited_for_, true);
}

std::string AgentUnderTest::output(Rank rank, Stream stream) const {
  std::string text;
  for (const Output& output : all<Output>()) {
    if (output.rank == rank && output.stream == stream) text += text_of(output.bytes);
  }
  return text;
}

std::vector<pid_t> AgentUnderTest::printed_pids() {
  EXPECT_TRUE(until([&] { return output().find("ready\n") != std::string::npos; })) << output();
  std::vector<pid_t> pids;
  const std::string text = output();
  for (const std::string_view line : text::split(text, '\n')) {
    if (const auto pid = text::integer_of<pid_t>(line)) pids.push_back(*pid);
  }
  for (const Started& started : all<Started>()) pids.push_back(started.pid);
  return pids;
}

void AgentUnderTest::take(Channel&, std::span<const std::byte> envelope) {
  auto parsed = parse_envelope(envelope);
  ASSERT_TRUE(parsed) << parsed.status().text();
  heard.push_back(*std::move(parsed));
}

void AgentUnderTest::end(Channel&, const Status&) { has_ended = true; }

bool are_gone(const std::vector<pid_t>& pids, std::chrono::milliseconds limit) {
  constexpr timespec kLook{.tv_sec = 0, .tv_nsec = 5'000'000};
  const Deadline deadline = Deadline::after(os::now(), limit);
  const auto is_gone = [](pid_t pid) {
    const os::ProcessState state = os::state_of(pid);
    return state == os::ProcessState::gone || state == os::ProcessState::zombie;
  };
  while (!std::ranges::all_of(pids, is_gone)) {
    if (deadline.has_passed(os::now())) return false;
    ::nanosleep(&kLook, nullptr);
  }
  return true;
}

}  // namespace tutti::launch
