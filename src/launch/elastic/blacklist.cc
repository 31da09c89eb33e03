#include "launch/elastic/blacklist.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::launch {
namespace {

constexpr int kDoublingsMax = 20;          // so that the product below fits
constexpr std::size_t kHostsNamedMax = 8;  // in a sentence

}  // namespace

void Blacklist::add(const std::string& host, const std::string& why, Time now) {
  Entry& entry = entries_[host];
  entry.why = why;
  ++entry.count;
  entry.end = Deadline::never();
  if (cooldown_.max.count() <= 0) return;
  const auto limit = static_cast<std::uint64_t>(cooldown_.max.count());
  const auto least = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(cooldown_.min.count()), 1, limit);
  const std::uint64_t most = std::min(limit, least << std::min(entry.count, kDoublingsMax));
  const std::uint64_t from = std::max(least, most / 2);
  entry.end = Deadline::after(now, std::chrono::nanoseconds(from + random_.below(most - from + 1)));
}

bool Blacklist::has(const std::string& host, Time now) const {
  const auto found = entries_.find(host);
  return found != entries_.end() && !found->second.end.has_passed(now);
}

bool Blacklist::has_for_good(const std::string& host) const {
  const auto found = entries_.find(host);
  return found != entries_.end() && found->second.end.at == Deadline::never().at;
}

std::optional<Time> Blacklist::next_end(Time now) const {
  std::optional<Time> next;
  for (const auto& [host, entry] : entries_) {
    if (entry.end.has_passed(now) || entry.end.at == Deadline::never().at) continue;
    if (!next || entry.end.at < *next) next = entry.end.at;
  }
  return next;
}

std::string Blacklist::text(Time now) const {
  std::string text;
  std::size_t named_count = 0;
  std::size_t left_out_count = 0;
  for (const auto& [host, entry] : entries_) {
    if (entry.end.has_passed(now)) continue;
    if (named_count == kHostsNamedMax) {
      ++left_out_count;
      continue;
    }
    const bool is_for_good = entry.end.at == Deadline::never().at;
    const std::string how_long =
        is_for_good ? "for good" : fmt::format("for {} s more", (entry.end.at.ns - now.ns) / 1'000'000'000 + 1);
    text += fmt::format("{}{} {} ({})", named_count == 0 ? "" : ", ", host, how_long, entry.why);
    ++named_count;
  }
  if (left_out_count > 0) text += fmt::format(" and {} more", left_out_count);
  return text;
}

}  // namespace tutti::launch
