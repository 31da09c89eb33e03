#include "launch/elastic/discovery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "launch/host_file.h"
#include "launch/start/explanation.h"
#include "os/clock.h"
#include "os/error_text.h"

namespace tutti::launch {

Result<std::vector<Host>> parse_discovery(std::string_view text, int slots_per_host) {
  if (text.size() > kDiscoveryBytesMax)
    return invalid_argument(fmt::format("it has more than {} bytes", kDiscoveryBytesMax));
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::vector<Host>();
  return parse_host_file(text, slots_per_host);
}

HostDiscovery::~HostDiscovery() {
  loop_.cancel(timer_);
  loop_.unwatch(output_watch_);
  if (program_) program_->signal_group(SIGKILL);
}

void HostDiscovery::begin() {
  if (const Status status = start(); !status) end(status);
}

Status HostDiscovery::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return {Code::out_of_memory, fmt::format("no pipe for it: {}; look at 'ulimit -n'", os::error_text(errno))};
  output_ = os::FileDescriptor(ends[0]);
  const os::FileDescriptor theirs(ends[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  text_.clear();
  TUTTI_ASSIGN(program_, Program::start(loop_, {.words = {"/bin/sh", "-c", settings_.script},
                                                .environment = os::whole_environment(),
                                                .output = theirs.get()}));
  TUTTI_ASSIGN(output_watch_, loop_.watch(output_.get(), os::kReadable, [this] { read(); }));
  program_->on_end([this] {
    read();
    end(outcome());
  });
  timer_ = loop_.call_at(Deadline::after(os::now(), settings_.limit).at, [this] {
    timer_ = {};
    end({Code::timed_out, fmt::format("it has not ended within {} s", settings_.limit.count() / 1000)});
  });
  return {};
}

void HostDiscovery::read() {
  std::array<char, 16384> space;  // not initialised: it is filled at once
  while (output_.is_open() && text_.size() <= kDiscoveryBytesMax) {
    const ssize_t count = ::read(output_.get(), space.data(), space.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    if (count == 0) break;
    text_.append(space.data(), static_cast<std::size_t>(count));
  }
  loop_.unwatch(output_watch_);  // all is there, or more than anybody needs
}

Status HostDiscovery::outcome() {
  const os::ProcessEnd& end = *program_->end();
  if (end.signal == 0 && end.code == 0) return {};
  const std::string how = end.signal != 0 ? fmt::format("it ended with signal {}", end.signal)
                                          : fmt::format("its exit code is {}", end.code);
  const std::string said = last_line(program_->complaints());
  return {Code::invalid_usage, said.empty() ? how : fmt::format("{} ({})", how, said)};
}

void HostDiscovery::end(const Status& status) {
  loop_.cancel(timer_);
  loop_.unwatch(output_watch_);
  output_.close();
  if (program_ && !program_->end()) program_->signal_group(SIGKILL);
  // Its end calls this: it is destroyed when that is over.
  loop_.call_later([gone = std::shared_ptr<Program>(std::move(program_))] {});
  Status result = status;
  if (result) {
    auto hosts = parse_discovery(text_, settings_.slots_per_host);
    result = hosts.status();
    if (hosts && hosts_ != *hosts) {
      hosts_ = *std::move(hosts);
      listener_.found(*hosts_);
    }
  }
  if (!result && !has_told_) {
    listener_.say(fmt::format("the host discovery script '{}' failed: {}; the hosts stay as they were",
                              settings_.script, result.text()));
  }
  has_told_ = !result;
  timer_ = loop_.call_at(Deadline::after(os::now(), settings_.pace).at, [this] {
    timer_ = {};
    begin();
  });
}

}  // namespace tutti::launch
