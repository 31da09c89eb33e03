#include "plan/algorithms/setting.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/assert.h"

namespace tutti::plan {

Slice View::slice(Buffer buffer, Rank owner, Rank block, Rank count) const {
  TUTTI_DCHECK(block_of.empty() || count == 1, "a range of blocks needs blocks in a row");
  const auto index = static_cast<std::uint32_t>(block);
  Slice slice{.owner = owner, .count = static_cast<std::uint32_t>(count), .buffer = buffer};
  const std::uint32_t place = block_of.empty() ? first_block + index : block_of[index];
  if (place == kNoBlock) {
    slice.count = 0;
    return slice;
  }
  slice.chunk = place * lanes + lane;
  if (count > 1) slice.stride = static_cast<std::uint16_t>(lanes);
  return slice;
}

StepWriter& View::load(StepWriter& step, Rank block, Rank count) const {
  if (contributors.empty()) return step.load(own(source, block, count));
  for (const Rank owner : contributors) step.load(of(owner, source, block, count));
  return step;
}

StepWriter& View::deliver(StepWriter& step, Rank block, Rank count) const {
  if (mirrors.empty()) step.store(own(target, block, count));
  for (const Rank owner : mirrors) step.store(of(owner, target, block, count));
  if (publishes) step.store(own(Buffer::stage, block, count));
  return step;
}

Setting::Setting(const Shape& shape, std::uint32_t blocks, Rails rails) : shape_(shape), blocks_(blocks) {
  everyone_.resize(static_cast<std::size_t>(shape.ranks));
  std::iota(everyone_.begin(), everyone_.end(), 0);
  number_orders();
  find_hosts();
  if (rails == Rails::one && has_root(shape.collective)) put_root_first();
  find_rails(rails);
}

void Setting::number_orders() {
  for (const auto& order : shape_.orders) {
    auto& positions = positions_.emplace_back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) positions[static_cast<std::size_t>(order[i])] = static_cast<Rank>(i);
    blocks_of_.emplace_back(order.begin(), order.end());
  }
}

void Setting::find_hosts() {
  std::map<std::uint32_t, std::uint32_t> index_of;  // hosts may be numbered in any way
  for (std::size_t rank = 0; rank < everyone_.size(); ++rank) {
    const std::uint32_t name = shape_.host_of.empty() ? 0 : shape_.host_of[rank];
    const auto [entry, is_new] = index_of.try_emplace(name, static_cast<std::uint32_t>(hosts_.size()));
    if (is_new) hosts_.emplace_back();
    auto& host = hosts_[entry->second];
    host_of_.push_back(entry->second);
    local_of_.push_back(static_cast<std::uint32_t>(host.size()));
    host.push_back(static_cast<Rank>(rank));
  }
}

void Setting::put_root_first() {
  auto& host = hosts_[host_of(shape_.root)];
  const auto root = std::find(host.begin(), host.end(), shape_.root);
  std::rotate(host.begin(), root, root + 1);
  for (std::size_t i = 0; i < host.size(); ++i) {
    local_of_[static_cast<std::size_t>(host[i])] = static_cast<std::uint32_t>(i);
  }
}

void Setting::find_rails(Rails rails) {
  const auto smaller = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto [smallest, largest] = std::minmax_element(hosts_.begin(), hosts_.end(), smaller);
  rails_.resize(rails == Rails::one ? 1 : smallest->size());
  layers_.resize(rails_.size());
  for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
    for (const auto& host : hosts_) rails_[rail].push_back(host[rail]);
    for (std::size_t local = rail; local < largest->size(); local += rails_.size()) {
      auto& layer = layers_[rail].emplace_back();
      for (const auto& host : hosts_) {
        layer.push_back(local < host.size() ? static_cast<std::uint32_t>(host[local]) : View::kNoBlock);
      }
    }
  }
}

View Setting::view(Rank me, std::uint32_t lane) const {
  View view{.members = everyone_, .me = me, .root = shape_.root, .lane = lane, .lanes = shape_.lanes};
  if (!shape_.orders.empty()) {
    const std::size_t order = lane % shape_.orders.size();
    view.members = shape_.orders[order];
    view.me = positions_[order][static_cast<std::size_t>(me)];
    view.root = positions_[order][static_cast<std::size_t>(shape_.root)];
    if (has_blocks(shape_.collective)) view.block_of = blocks_of_[order];
  }
  return view;
}

std::vector<Rank> others(std::span<const Rank> members, Rank me) {
  std::vector<Rank> rest;
  for (const Rank member : members) {
    if (member != me) rest.push_back(member);
  }
  return rest;
}

void meet(Lane& lane, std::span<const Rank> members, Rank me) {
  const auto n = static_cast<Rank>(members.size());
  const auto member = [&](Rank position) { return members[static_cast<std::size_t>((position + n) % n)]; };
  if (n <= kMeetAllPairsMax) {
    const auto rest = others(members, member(me));
    if (rest.empty()) return;
    lane.step().signal(rest);
    lane.step().wait(rest);
    return;
  }
  for (Rank distance = 1; distance < n; distance *= 2) {
    lane.step().signal(member(me + distance));
    lane.step().wait(member(me - distance));
  }
}

}  // namespace tutti::plan
