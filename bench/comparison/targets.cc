#include "bench/comparison/targets.h"

#include "bench/comparison/contenders.h"

namespace tutti::bench {

namespace {

constexpr std::uint64_t kKiB = 1024;

std::optional<double> all_reduce_target(Rank ranks, std::uint64_t bytes, BufferKind kind) {
  if (kind == BufferKind::malloc) {
    if (ranks == 4) return 2.0;
    if (ranks == 8) return 1.8;
    if (ranks != 2) return std::nullopt;
    if (bytes <= 64) return 2.5;
    if (bytes <= 4 * kKiB) return 1.7;
    return bytes >= 32 * kKiB ? std::optional(2.3) : std::nullopt;
  }
  if (ranks == 8) return 2.3;
  if ((ranks == 2 && bytes >= 4 * kKiB) || (ranks == 4 && bytes >= 32 * kKiB)) return 4.0;
  return std::nullopt;
}

}  // namespace

std::optional<double> ratio_target(const Case& what, BufferKind kind, const Network& network) {
  // With several ranks on each host a flow between the hosts is shared, and inside them memory is.
  if (network.host_count > 1) return what.ranks > network.host_count ? 2.0 : 1.2;
  if (what.collective == plan::Collective::all_reduce) return all_reduce_target(what.ranks, what.bytes, kind);
  if (what.collective == plan::Collective::barrier || what.bytes < 32 * kKiB) return std::nullopt;
  return 1.2;
}

std::optional<double> bound_target(const Case& what, BufferKind kind, const Network& network) {
  if (what.collective != plan::Collective::all_reduce) return std::nullopt;
  if (network.host_count > 1) return what.bytes >= 4 * kKiB * kKiB ? std::optional(0.95) : std::nullopt;
  if (what.bytes < kKiB * kKiB) return std::nullopt;
  return kind == BufferKind::malloc ? 0.5 : 0.9;
}

std::optional<double> line_s(const Case& what, const Network& network) {
  if (network.bits_per_second == 0 || what.collective != plan::Collective::all_reduce) return std::nullopt;
  constexpr double kHeaderBytes = 20 + 20 + 12;  // IPv4, TCP and its time stamps
  constexpr double kEthernetBytes = 14;
  const double payload = (network.mtu - kHeaderBytes) / (network.mtu + kEthernetBytes);
  const double bytes_per_second = static_cast<double>(network.bits_per_second) / 8 * network.rail_count * payload;
  const double hosts = network.host_count;
  return 2 * (hosts - 1) / hosts * static_cast<double>(what.bytes) / bytes_per_second;
}

std::optional<Score> score_of(const Samples& samples, const Case& what, BufferKind kind, const Network& network) {
  const auto tutti = samples.of(what, kind == BufferKind::malloc ? kTuttiMalloc : kTuttiAllocated);
  if (!tutti) return std::nullopt;
  Score score{*tutti, std::nullopt, std::nullopt};
  if (const auto peer = samples.best_peer(what)) {
    score.ratio = Mark{peer->median_s / tutti->median_s, ratio_target(what, kind, network)};
  }
  if (const auto line = line_s(what, network)) {
    score.of_bound = Mark{*line / tutti->median_s, bound_target(what, kind, network)};
  } else if (const auto bound = samples.of(what, kBound)) {
    score.of_bound = Mark{bound->median_s / tutti->median_s, bound_target(what, kind, network)};
  }
  return score;
}

}  // namespace tutti::bench
