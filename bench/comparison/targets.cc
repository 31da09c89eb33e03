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

std::optional<double> ratio_target(const Case& what, BufferKind kind) {
  if (what.collective == plan::Collective::all_reduce) return all_reduce_target(what.ranks, what.bytes, kind);
  if (what.collective == plan::Collective::barrier || what.bytes < 32 * kKiB) return std::nullopt;
  return 1.2;
}

std::optional<double> bound_target(const Case& what, BufferKind kind) {
  if (what.collective != plan::Collective::all_reduce || what.bytes < kKiB * kKiB) return std::nullopt;
  return kind == BufferKind::malloc ? 0.5 : 0.9;
}

std::optional<Score> score_of(const Samples& samples, const Case& what, BufferKind kind) {
  const auto tutti = samples.of(what, kind == BufferKind::malloc ? kTuttiMalloc : kTuttiAllocated);
  if (!tutti) return std::nullopt;
  Score score{*tutti, std::nullopt, std::nullopt};
  if (const auto peer = samples.best_peer(what)) {
    score.ratio = Mark{peer->median_s / tutti->median_s, ratio_target(what, kind)};
  }
  if (const auto bound = samples.of(what, kBound)) {
    score.of_bound = Mark{bound->median_s / tutti->median_s, bound_target(what, kind)};
  }
  return score;
}

}  // namespace tutti::bench
