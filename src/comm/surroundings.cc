#include "comm/surroundings.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"

namespace tutti::comm {

namespace {

constexpr std::size_t kHostsShown = 8;

// Of each host its ranks; hosts are numbered in the order of their first ranks.
std::vector<std::vector<Rank>> ranks_by_host(const Side& side) {
  std::vector<std::vector<Rank>> hosts;
  for (Rank rank = 0; rank < side.size(); ++rank) {
    const auto host = static_cast<std::size_t>(side.host_of(rank));
    if (host >= hosts.size()) hosts.resize(host + 1);
    hosts[host].push_back(rank);
  }
  return hosts;
}

}  // namespace

std::string describe_surroundings(const Side& side) {
  if (!side.is_on_several_hosts()) return "";
  const auto hosts = ranks_by_host(side);
  std::string names;
  std::string ways;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (host == kHostsShown) {
      names += fmt::format(" and {} more", hosts.size() - host);
      break;
    }
    const Rank first = hosts[host][0];
    const std::string& name = side.peers()[static_cast<std::size_t>(first)].host;
    names += fmt::format("{}{} (rank{} {})", host == 0 ? "" : ", ", name, hosts[host].size() > 1 ? "s" : "",
                         text::list_text(hosts[host]));
    if (side.host_of(side.rank()) == side.host_of(first)) continue;
    ways += fmt::format("\n  to {}: {}", name, side.outside()->links().ways_to(first));
  }
  const Links& links = side.outside()->links();
  return fmt::format("  hosts: {}\n  {}, {}{}\n  network: {}", names, links.carriers(),
                     links.is_encrypted() ? "encrypted" : "not encrypted", ways, side.network().text());
}

}  // namespace tutti::comm
