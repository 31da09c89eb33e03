#include "launch/start/slurm_ticket.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace tutti::launch {

namespace {

constexpr std::string_view kFirstWord = "tutti-ticket-1";
constexpr std::size_t kWords = 6;
constexpr std::string_view kAnnouncement = "tutti-agent ";

// Never repeats the line, which holds the secret.
Status malformed(std::string_view why) {
  return invalid_argument(fmt::format(
      "what came on standard input is no ticket of 'tutti run': {}; agents are started by 'tutti run' alone", why));
}

}  // namespace

std::string text_of(const SlurmTicket& ticket) {
  return fmt::format("{} {} {} {} {} {}\n", kFirstWord, rpc::reveal_hex(ticket.secret),
                     ticket.is_encrypted ? "encrypted" : "plain", ticket.launcher.id.value,
                     fmt::join(ticket.launcher.addresses, ","), fmt::join(ticket.nodes, ","));
}

Result<SlurmTicket> parse_slurm_ticket(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  const auto words = text::words(line);
  if (words.size() != kWords || words[0] != kFirstWord) {
    return malformed(fmt::format("it has {} words instead of {}, or the first is another", words.size(), kWords));
  }
  TUTTI_ASSIGN(const rpc::Secret secret, rpc::Secret::of_hex(words[1]));
  if (words[2] != "encrypted" && words[2] != "plain") return malformed("its third word is unknown");
  const auto id = text::integer_of<std::uint64_t>(words[3]);
  if (!id) return malformed("its fourth word is no number");
  SlurmTicket ticket{.launcher = {.id = {*id}, .addresses = {}},
                     .secret = secret,
                     .is_encrypted = words[2] == "encrypted",
                     .nodes = {}};
  for (const std::string_view address : text::split(words[4], ',')) ticket.launcher.addresses.emplace_back(address);
  for (const std::string_view node : text::split(words[5], ',')) ticket.nodes.emplace_back(node);
  return ticket;
}

Result<HostIndex> place_of(const SlurmTicket& ticket, std::string_view node) {
  const auto found = std::ranges::find(ticket.nodes, node);
  if (found == ticket.nodes.end()) {
    return invalid_argument(
        fmt::format("this node is called '{}' (SLURMD_NODENAME), and the job has no such host", node));
  }
  return static_cast<HostIndex>(found - ticket.nodes.begin());
}

std::string announcement_of(HostIndex host) { return fmt::format("{}{}", kAnnouncement, host); }

Result<HostIndex> parse_announcement(std::string_view announcement) {
  const auto host = announcement.starts_with(kAnnouncement)
                        ? text::integer_of<HostIndex>(announcement.substr(kAnnouncement.size()))
                        : std::nullopt;
  if (!host) return invalid_argument("a connection came in that is no agent's");
  return *host;
}

}  // namespace tutti::launch
