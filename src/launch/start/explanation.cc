#include "launch/start/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tutti::launch {

namespace {

constexpr int kNotFound = 127;  // what shells answer
constexpr int kNotExecutable = 126;
constexpr int kSshFailed = 255;

struct Remedy {
  std::string_view saying;  // of ssh
  std::string_view remedy;
};
constexpr std::array kRemedies{
    Remedy{"Could not resolve hostname", "check the name, or give the address as a number"},
    Remedy{"Name or service not known", "check the name, or give the address as a number"},
    Remedy{"Connection refused", "is sshd running there, at that port? See --ssh-port"},
    Remedy{"Permission denied", "'ssh {} true' must work without a password: see --ssh-identity-file and ssh-copy-id"},
    Remedy{"Too many authentication failures", "'ssh {} true' must work without a password: see --ssh-identity-file"},
    Remedy{"Host key verification failed", "call 'ssh {}' once and accept its key"},
    Remedy{"timed out", "is the host up, and no firewall in between?"},
    Remedy{"No route to host", "is the host up, and in a network that this one reaches?"},
};

std::string remedy_of(std::string_view complaints, std::string_view host) {
  for (const Remedy& each : kRemedies) {
    if (complaints.find(each.saying) == std::string_view::npos) continue;
    return fmt::format("; {}", fmt::format(fmt::runtime(each.remedy), host));
  }
  return fmt::format("; try 'ssh {} true'", host);
}

std::string end_text(const Parting& parting) {
  if (!parting.end) return parting.stream;
  if (parting.end->signal != 0) return fmt::format("it was ended by signal {}", parting.end->signal);
  return fmt::format("it ended with code {}", parting.end->code);
}

std::string with_quote(std::string text, const Parting& parting) {
  std::string said = last_line(parting.complaints);
  if (said.empty()) said = last_line(parting.noise);
  if (!said.empty()) text += fmt::format(" and said: {}", said);
  return text;
}

}  // namespace

std::string last_line(std::string_view text) {
  std::string last;
  for (const std::string_view line : text::split(text, '\n')) {
    std::string clean;
    for (const char letter : line) clean += static_cast<unsigned char>(letter) < ' ' || letter == 127 ? ' ' : letter;
    const std::string_view trimmed = text::trim(clean);
    if (!trimmed.empty()) last = trimmed;
  }
  return last;
}

std::string explanation_of(const Parting& parting) {
  const bool is_ssh = parting.way == Way::ssh;
  const int code = parting.end && parting.end->signal == 0 ? parting.end->code : 0;
  if (is_ssh && code == kSshFailed) {
    const std::string said = last_line(parting.complaints);
    if (parting.has_answered) {
      return fmt::format("the connection to {} broke{}{}", parting.host, said.empty() ? "" : ": ", said);
    }
    return fmt::format("ssh cannot reach {}: {}{}", parting.host, said.empty() ? "it gave no reason" : said,
                       remedy_of(parting.complaints, parting.host));
  }
  if (is_ssh && !parting.has_answered && (code == kNotFound || code == kNotExecutable)) {
    return fmt::format("{} has no {} at {}; install it there or give --agent-path ({})", parting.host, "tutti",
                       parting.agent_path, last_line(parting.complaints));
  }
  if (!parting.has_answered) {
    return fmt::format("{} did not answer as an agent: {}", parting.host, with_quote(end_text(parting), parting));
  }
  return fmt::format("the agent on {} is gone: {}", parting.host, with_quote(end_text(parting), parting));
}

}  // namespace tutti::launch
