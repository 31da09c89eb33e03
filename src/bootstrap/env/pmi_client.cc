#include "bootstrap/env/pmi_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "bootstrap/env/pmi_message.h"
#include "os/error_text.h"
#include "os/poll.h"

namespace tutti::bootstrap {
namespace {

constexpr std::size_t kPartBytesLeast = 16;   // a launcher whose values are shorter is of no use
constexpr std::size_t kTextBytesMax = 2'048;  // of what is an identifier, or a sentence about a failure
constexpr std::size_t kPartsMax = kTextBytesMax / (kPartBytesLeast - 1) + 1;

Status lost(std::string_view why) {
  return {Code::peer_lost, fmt::format("the launcher does not speak PMI any more: {}", why)};
}

class PmiConnection {
 public:
  PmiConnection(int descriptor, Deadline deadline) : descriptor_(descriptor), deadline_(deadline) {}

  Status say(const PmiMessage& message);
  Result<PmiMessage> hear();
  // What a command is answered with; a failure when it is another command or says that it failed.
  Result<PmiMessage> ask(const PmiMessage& message, std::string_view answer);

 private:
  Status too_late(std::string_view what) const {
    return {Code::timed_out,
            fmt::format("the launcher has not {} in time; have all processes of the job come here?", what)};
  }

  int descriptor_;
  Deadline deadline_;
  std::string heard_ = {};
};

Status PmiConnection::say(const PmiMessage& message) {
  const std::string line = line_of(message);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t sent = ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!os::poll_until(descriptor_, POLLOUT, deadline_)) return too_late("taken a line");
    } else if (errno != EINTR) {
      return lost(os::error_text(errno));
    }
  }
  return {};
}

Result<PmiMessage> PmiConnection::hear() {
  while (true) {
    if (const auto end = heard_.find('\n'); end != std::string::npos) {
      auto message = parse_pmi(std::string_view(heard_).substr(0, end));
      heard_.erase(0, end + 1);
      return message;
    }
    if (heard_.size() > kPmiLineBytesMax) return lost("it sends a line without an end");
    if (!os::poll_until(descriptor_, POLLIN, deadline_)) return too_late("answered");
    std::array<char, 4096> space{};
    const ssize_t count = ::recv(descriptor_, space.data(), space.size(), MSG_DONTWAIT);
    if (count == 0) return lost("it has closed the connection");
    if (count > 0) heard_.append(space.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return lost(os::error_text(errno));
  }
}

Result<PmiMessage> PmiConnection::ask(const PmiMessage& message, std::string_view answer) {
  TUTTI_TRY(say(message));
  TUTTI_ASSIGN(PmiMessage heard, hear());
  if (heard.command != answer) {
    return lost(fmt::format("it answers '{}' with '{}'", message.command, heard.command));
  }
  const std::string* code = heard.find("rc");
  if (code == nullptr || *code == "0") return heard;
  const std::string* why = heard.find("msg");
  return Status(Code::network, fmt::format("the launcher refuses '{}' of PMI: {}", message.command,
                                           why != nullptr ? *why : "code " + *code));
}

Result<std::string> field_of(const PmiMessage& message, std::string_view name) {
  if (const std::string* value = message.find(name)) return *value;
  return lost(fmt::format("its '{}' has no '{}'", message.command, name));
}

std::string key_of(std::size_t part) { return fmt::format("tutti-{}", part); }

// The parts, each with a letter in front that says whether more follow, so that none is empty.
Status put(PmiConnection& launcher, const std::string& space, std::string_view text, std::size_t part_bytes) {
  std::size_t part = 0;
  do {
    const std::string_view piece = text.substr(0, part_bytes - 1);
    text.remove_prefix(piece.size());
    const std::string value = (text.empty() ? "." : "+") + std::string(piece);
    TUTTI_TRY(
        launcher.ask({"put", {{"kvsname", space}, {"key", key_of(part)}, {"value", value}}}, "put_result").status());
    ++part;
  } while (!text.empty());
  return {};
}

Result<std::string> get(PmiConnection& launcher, const std::string& space) {
  std::string text;
  for (std::size_t part = 0; part < kPartsMax; ++part) {
    TUTTI_ASSIGN(const PmiMessage got,
                 launcher.ask({"get", {{"kvsname", space}, {"key", key_of(part)}}}, "get_result"));
    TUTTI_ASSIGN(const std::string value, field_of(got, "value"));
    if (value.empty()) return lost("a value is empty");
    text += value.substr(1);
    if (value.front() == '.') return text;
  }
  return lost("a text has no end");
}

}  // namespace

Status validate_pmi(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) == 0 && S_ISSOCK(found.st_mode)) return {};
  return {Code::unsupported,
          fmt::format("PMI_FD={} is no socket of this process; a program between it and the launcher has closed it",
                      descriptor)};
}

Result<std::string> broadcast_by_pmi(int descriptor, Rank rank, std::string_view text, Deadline deadline) {
  PmiConnection launcher(descriptor, deadline);
  TUTTI_TRY(launcher.ask({"init", {{"pmi_version", "1"}, {"pmi_subversion", "1"}}}, "response_to_init").status());
  TUTTI_ASSIGN(const PmiMessage maxes, launcher.ask({"get_maxes"}, "maxes"));
  TUTTI_ASSIGN(const std::string value_bytes, field_of(maxes, "vallen_max"));
  const auto part_bytes = text::integer_of<std::size_t>(value_bytes);
  if (!part_bytes || *part_bytes <= kPartBytesLeast) return lost(fmt::format("values have {} bytes", value_bytes));
  TUTTI_ASSIGN(const PmiMessage named, launcher.ask({"get_my_kvsname"}, "my_kvsname"));
  TUTTI_ASSIGN(const std::string space, field_of(named, "kvsname"));
  // A value of the longest size would have no place for the zero that launchers in C keep at its end.
  if (rank == 0) TUTTI_TRY(put(launcher, space, text.substr(0, kTextBytesMax), *part_bytes - 1));
  TUTTI_TRY(launcher.ask({"barrier_in"}, "barrier_out").status());
  std::string result(text);
  if (rank != 0) {
    TUTTI_ASSIGN(result, get(launcher, space));
  }
  TUTTI_TRY(launcher.ask({"finalize"}, "finalize_ack").status());
  return result;
}

}  // namespace tutti::bootstrap
