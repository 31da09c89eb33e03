// From an algorithm and a shape to a plan.
#include <fmt/format.h>

#include "plan/algorithms/setting.h"
#include "plan/passes/fuse.h"
#include "tutti/plan.h"

namespace tutti::plan {

namespace {

constexpr Rank kRanksMax = 1 << 20;
constexpr std::uint32_t kLanesMax = 256;

Status validate_orders(const Shape& shape) {
  for (const auto& order : shape.orders) {
    std::vector<bool> seen(static_cast<std::size_t>(shape.ranks), false);
    for (const Rank rank : order) {
      if (rank < 0 || rank >= shape.ranks || seen[static_cast<std::size_t>(rank)]) {
        return invalid_argument(fmt::format("a ring order holds rank {} twice or beyond {} ranks", rank, shape.ranks));
      }
      seen[static_cast<std::size_t>(rank)] = true;
    }
    if (order.size() != seen.size()) {
      return invalid_argument(
          fmt::format("a ring order names {} of {} ranks; it takes each once", order.size(), shape.ranks));
    }
  }
  return {};
}

std::string with_reach(Reach reach) {
  if (reach == Reach::none) return "";
  return reach == Reach::full ? " with reach" : fmt::format(" with reach {}", name_of(reach));
}

Status validate_fit(const Algorithm& algorithm, const Shape& shape) {
  TUTTI_TRY(validate(shape));
  if (algorithm.collective != shape.collective) {
    return invalid_argument(fmt::format("'{}' here is an algorithm for {}, not for {}", algorithm.name,
                                        name_of(algorithm.collective), name_of(shape.collective)));
  }
  if (!algorithm.fits(shape)) {
    return invalid_argument(fmt::format("{} does not fit {} over {} ranks{}{}: it needs {}", algorithm.name,
                                        name_of(shape.collective), shape.ranks, with_reach(shape.reach),
                                        shape.in_place ? " in place" : "", algorithm.needs));
  }
  return {};
}

Program program_of(const Algorithm& algorithm, const Setting& setting, Rank rank) {
  Program program;
  algorithm.build(setting, rank, program);
  return fuse(program);
}

}  // namespace

Status validate(const Shape& shape) {
  if (shape.ranks < 1 || shape.ranks > kRanksMax) {
    return invalid_argument(fmt::format("{} ranks are not between 1 and {}", shape.ranks, kRanksMax));
  }
  const auto outside = [&](Rank rank) { return rank < 0 || rank >= shape.ranks; };
  if (outside(shape.root)) return invalid_argument(fmt::format("root {} is not a rank of {}", shape.root, shape.ranks));
  if (outside(shape.peer)) return invalid_argument(fmt::format("peer {} is not a rank of {}", shape.peer, shape.ranks));
  if (shape.lanes < 1 || shape.lanes > kLanesMax) {
    return invalid_argument(fmt::format("{} lanes are not between 1 and {}", shape.lanes, kLanesMax));
  }
  if (!shape.host_of.empty() && shape.host_of.size() != static_cast<std::size_t>(shape.ranks)) {
    return invalid_argument(fmt::format("hosts are given for {} of {} ranks", shape.host_of.size(), shape.ranks));
  }
  return validate_orders(shape);
}

Result<Plan> build(const Algorithm& algorithm, const Shape& shape) {
  TUTTI_TRY(validate_fit(algorithm, shape));
  const Setting setting(shape, algorithm.blocks(shape));
  Plan plan;
  plan.algorithm = algorithm.name;
  plan.collective = shape.collective;
  plan.ranks = shape.ranks;
  plan.root = has_root(shape.collective) ? shape.root : 0;
  plan.peer = shape.collective == Collective::send_receive ? shape.peer : 0;
  plan.chunks = setting.blocks() * shape.lanes;
  if (shape.reach != Reach::none) {
    plan.reach = shape.reach;
    for (const Rank rank : setting.everyone()) plan.domain_of.push_back(setting.host_of(rank));
  }
  plan.programs.reserve(static_cast<std::size_t>(shape.ranks));
  for (const Rank rank : setting.everyone()) plan.programs.push_back(program_of(algorithm, setting, rank));
  return plan;
}

Result<Program> build_program(const Algorithm& algorithm, const Shape& shape, Rank rank) {
  TUTTI_TRY(validate_fit(algorithm, shape));
  if (rank < 0 || rank >= shape.ranks) {
    return invalid_argument(fmt::format("rank {} is not a rank of {}", rank, shape.ranks));
  }
  return program_of(algorithm, Setting(shape, algorithm.blocks(shape)), rank);
}

}  // namespace tutti::plan
