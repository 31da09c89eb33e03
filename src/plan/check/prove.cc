#include "tutti/prove.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "base/text.h"

namespace tutti::plan {

namespace {

// Ways to put n ranks on hosts, beside all on one: pairs, threes with an uneven rest, one alone and the others
// together, and dealt out like cards.
std::vector<std::vector<std::uint32_t>> host_layouts(Rank ranks) {
  std::vector<std::vector<std::uint32_t>> layouts(4);
  for (Rank rank = 0; rank < ranks; ++rank) {
    layouts[0].push_back(static_cast<std::uint32_t>(rank / 2));
    layouts[1].push_back(static_cast<std::uint32_t>(rank / 3));
    layouts[2].push_back(rank == 0 ? 0 : 1);
    layouts[3].push_back(static_cast<std::uint32_t>(rank % 3));
  }
  return layouts;
}

std::vector<Rank> shuffled_ring(Rank ranks) {
  std::vector<Rank> ring(static_cast<std::size_t>(ranks));
  std::iota(ring.begin(), ring.end(), 0);
  Random random(static_cast<std::uint64_t>(ranks));
  for (std::size_t i = ring.size(); i > 1; --i) std::swap(ring[i - 1], ring[random.below(i)]);
  return ring;
}

// Where an algorithm can be told apart: reach only if it needs it, several hosts only if it knows them.
std::vector<Shape> settings_of(const Algorithm& algorithm, const Shape& base) {
  std::vector<Shape> shapes;
  Shape shape = base;
  if (algorithm.fits(shape)) shapes.push_back(shape);
  // The least reach that fits is the strictest, and more of it changes no flat algorithm.
  for (const Reach reach : {Reach::stage, Reach::load, Reach::full}) {
    shape.reach = reach;
    if (shapes.empty() && algorithm.fits(shape)) shapes.push_back(shape);
  }
  if (shapes.empty()) {
    for (const auto& hosts : host_layouts(base.ranks)) {
      shape.host_of = hosts;
      // Plans on several hosts have forms of their own for pipes, stages and buffers.
      for (const Reach reach : {Reach::none, Reach::stage, Reach::full}) {
        shape.reach = reach;
        if (algorithm.fits(shape)) shapes.push_back(shape);
      }
    }
  }
  shape = base;
  shape.orders = {shuffled_ring(base.ranks)};
  if (base.ranks > 2 && algorithm.fits(shape)) shapes.push_back(shape);
  return shapes;
}

}  // namespace

std::string Case::text() const {
  std::string text = fmt::format("{} {} ranks={}", algorithm->name, name_of(shape.collective), shape.ranks);
  if (shape.lanes > 1) text += fmt::format(" lanes={}", shape.lanes);
  if (has_root(shape.collective)) text += fmt::format(" root={}", shape.root);
  if (shape.collective == Collective::send_receive) text += fmt::format(" peer={}", shape.peer);
  if (shape.reach != Reach::none) text += fmt::format(" reach={}", name_of(shape.reach));
  if (!shape.host_of.empty()) text += fmt::format(" hosts={}", fmt::join(shape.host_of, ","));
  if (!shape.orders.empty()) text += fmt::format(" ring={}", fmt::join(shape.orders[0], ","));
  if (shape.in_place) text += " in place";
  return text;
}

void for_each_case(Rank ranks, std::uint32_t lanes, const std::function<bool(const Case&)>& each) {
  for (const Algorithm& algorithm : algorithms()) {
    const bool pairs = algorithm.collective == Collective::send_receive;
    if (algorithm.collective == Collective::barrier && lanes > 1) continue;  // carries no data to divide
    for (const bool in_place : {false, true}) {
      if (in_place && (pairs || algorithm.collective == Collective::barrier)) continue;
      for (Rank root = 0; root < (has_root(algorithm.collective) ? ranks : 1); ++root) {
        for (Rank peer = 0; peer < (pairs ? ranks : 1); ++peer) {
          Shape base;
          base.collective = algorithm.collective;
          base.ranks = ranks;
          base.lanes = lanes;
          base.root = root;
          base.peer = peer;
          base.in_place = in_place;
          for (const Shape& shape : settings_of(algorithm, base)) {
            if (!each({&algorithm, shape})) return;
          }
        }
      }
    }
  }
}

std::optional<std::string> prove(const Case& proof) {
  auto plan = build(*proof.algorithm, proof.shape);
  if (!plan) return std::string(plan.status().text());
  const auto result = check(*plan, {.in_place = proof.shape.in_place});
  if (const auto* fault = std::get_if<Fault>(&result)) return fault->text();
  return std::nullopt;
}

}  // namespace tutti::plan
