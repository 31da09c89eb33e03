#include "tools/tutti/check/ssh_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "launch/start/explanation.h"
#include "launch/start/ssh_words.h"
#include "launch/world.h"
#include "os/clock.h"
#include "os/thread.h"
#include "tools/tutti/check/program.h"

namespace tutti::tool::check {

namespace {

// Each is an ssh that mostly waits; more at once would meet the limits of a login host.
constexpr std::size_t kAtOnce = 32;
// ssh has its own patience, which ends with a better sentence than a kill.
constexpr std::chrono::seconds kGrace{2};

std::string ask(const launch::Settings& settings, const std::string& host, std::chrono::seconds patience) {
  const std::vector<std::string> command = {settings.agent, "--version"};
  const auto words = launch::ssh_words(settings.ssh, patience, host, command);
  const auto answer = run_program(words, Deadline::after(os::now(), patience + kGrace));
  if (!answer) return std::string(answer.status().text());
  if (answer->is_late) return fmt::format("ssh has not answered within {} s", (patience + kGrace).count());
  if (answer->end == os::ProcessEnd{}) return "";
  return launch::explanation_of({.way = launch::Way::ssh,
                                 .host = host,
                                 .agent_path = settings.agent,
                                 .noise = answer->out,
                                 .complaints = answer->err,
                                 .end = answer->end});
}

}  // namespace

std::vector<std::string> ask_hosts(const launch::Settings& settings, const std::string& machine,
                                   std::chrono::seconds patience) {
  const auto& hosts = settings.layout.hosts;
  std::vector<std::string> failures(hosts.size());
  if (settings.starter != launch::Starter::ssh) return failures;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t host = next++; host < hosts.size(); host = next++) {
      if (!launch::is_this_machine(hosts[host].name, machine)) {
        failures[host] = ask(settings, hosts[host].name, patience);
      }
    }
  };
  std::vector<os::Thread> others;
  for (std::size_t index = 1; index < std::min(kAtOnce, hosts.size()); ++index) {
    if (auto thread = os::Thread::start("tutti-ssh", work)) others.push_back(*std::move(thread));
  }
  work();  // with fewer threads it takes longer
  others.clear();
  return failures;
}

}  // namespace tutti::tool::check
