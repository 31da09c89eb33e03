#include "launch/agent/agent_line.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "launch/conduit_duct.h"
#include "launch/start/slurm_ticket.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/error_text.h"
#include "rpc/courier.h"

namespace tutti::launch {
namespace {

constexpr std::chrono::seconds kTicketTime(60);   // until all of the step run, and srun passes its input on
constexpr std::chrono::seconds kConnectTime(60);  // to a launcher to which thousands may connect at once
constexpr std::size_t kTicketBytesMax = std::size_t{4} << 20;  // the names of all hosts are in it

Status standard_failure(int error) {
  return {Code::invalid_usage,
          fmt::format("standard input and output do not lead to a launcher: {}; agents are started "
                      "by 'tutti run' alone",
                      os::error_text(error))};
}

// A copy above the standard ones, closed by exec.
Result<os::FileDescriptor> copy_of(int descriptor) {
  os::FileDescriptor copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
  if (!copy.is_open()) return standard_failure(errno);
  return copy;
}

Status lead_elsewhere() {
  const os::FileDescriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.is_open() || ::dup2(null.get(), STDIN_FILENO) < 0) return standard_failure(errno);
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) ::dup2(null.get(), STDERR_FILENO);
  return ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? standard_failure(errno) : Status();
}

// To the end of the line and no further.
Result<std::string> read_line(int descriptor, Deadline deadline) {
  std::string line;
  while (line.size() < kTicketBytesMax) {
    const Time now = os::now();
    if (deadline.has_passed(now)) return Status(Code::timed_out, "no ticket came on standard input within 60 s");
    pollfd wait{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, static_cast<int>((deadline.at.ns - now.ns) / 1'000'000 + 1)) <= 0) continue;
    char letter = 0;
    const ssize_t got = ::read(descriptor, &letter, 1);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Status(Code::peer_lost, "standard input ended before a ticket of 'tutti run' came");
    if (letter == '\n') return line;
    line += letter;
  }
  return Status(Code::network, "what comes on standard input is no ticket of 'tutti run': it has no end");
}

}  // namespace

Result<AgentLine> take_standard_streams(HostIndex host) {
  TUTTI_ASSIGN(auto input, copy_of(STDIN_FILENO));
  TUTTI_ASSIGN(auto output, copy_of(STDOUT_FILENO));
  TUTTI_TRY(lead_elsewhere());
  return AgentLine{
      .duct = create_pipe_duct(std::move(input), std::move(output)), .greets = Greets::writes, .host = host};
}

Result<AgentLine> connect_by_ticket() {
  TUTTI_ASSIGN(const std::string line, read_line(STDIN_FILENO, Deadline::after(os::now(), kTicketTime)));
  TUTTI_TRY(lead_elsewhere());
  TUTTI_ASSIGN(const SlurmTicket ticket, parse_slurm_ticket(line));
  TUTTI_ASSIGN(const HostIndex host, place_of(ticket, os::environment_variable("SLURMD_NODENAME").value_or("")));
  // Nobody connects to it, and it ends when the connection is there: ranks are started by a process of one thread.
  TUTTI_ASSIGN(const auto courier,
               rpc::Courier::start({.secret = ticket.secret,
                                    .encryption = ticket.is_encrypted ? rpc::Encryption::on : rpc::Encryption::off,
                                    .listen = {"127.0.0.1:0"}}));
  const std::string place = announcement_of(host);
  const auto announcement = bytes_of(place);
  TUTTI_ASSIGN(auto conduit,
               courier->connect_data(ticket.launcher, {.announcement = {announcement.begin(), announcement.end()}},
                                     Deadline::after(os::now(), kConnectTime)));
  return AgentLine{.duct = create_conduit_duct(std::move(conduit)), .greets = Greets::no, .host = host};
}

}  // namespace tutti::launch
