#include "tools/perf/judge/limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tutti/planner.h"
#include "tutti/types.h"

namespace tutti::perf {

namespace {

struct Program {
  std::string_view name;
  std::optional<plan::Collective> collective;
};

constexpr std::array<Program, 11> kPrograms = {{{"all_reduce", plan::Collective::all_reduce},
                                                {"all_gather", plan::Collective::all_gather},
                                                {"broadcast", plan::Collective::broadcast},
                                                {"reduce_scatter", plan::Collective::reduce_scatter},
                                                {"reduce", plan::Collective::reduce},
                                                {"alltoall", plan::Collective::all_to_all},
                                                {"gather", plan::Collective::gather},
                                                {"scatter", plan::Collective::scatter},
                                                {"alltoallv", std::nullopt},
                                                {"sendrecv", std::nullopt},
                                                {"hypercube", std::nullopt}}};

const Program* find_program(std::string_view name) {
  const auto found = std::find_if(kPrograms.begin(), kPrograms.end(), [&](const Program& p) { return p.name == name; });
  return found == kPrograms.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> element_bytes(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, DataType>, 5> kNames = {{{"float", DataType::float32},
                                                                                   {"half", DataType::float16},
                                                                                   {"double", DataType::float64},
                                                                                   {"f8e4m3", DataType::float8e4m3},
                                                                                   {"f8e5m2", DataType::float8e5m2}}};
  for (const auto& [name, known] : kNames) {
    if (type == name) return static_cast<std::uint32_t>(size_of(known));
  }
  const auto found = data_type_of(type);
  return found ? std::optional(static_cast<std::uint32_t>(size_of(*found))) : std::nullopt;
}

std::string plan_text(const planner::Candidate& candidate) {
  if (candidate.shape.lanes == 1) return std::string(candidate.algorithm->name);
  return fmt::format("{} in {} lanes", candidate.algorithm->name, candidate.shape.lanes);
}

}  // namespace

std::optional<plan::Collective> planned_collective(std::string_view name) {
  const Program* program = find_program(name);
  return program == nullptr ? std::nullopt : program->collective;
}

bool is_known_program(std::string_view name) { return find_program(name) != nullptr; }

Limits::Limits(const topology::Topology& topology, plan::Collective collective)
    : topology_(topology), collective_(collective) {}

Result<Limit> Limits::of(const Series& series) {
  const auto bytes = element_bytes(series.subject.type);
  if (!bytes) return invalid_argument(fmt::format("the size of type '{}' is not known", series.subject.type));
  if (series.count == 0) return invalid_argument("a call of no elements has no limit");
  const Call call{series.count, *bytes, series.subject.root, series.subject.placement};
  if (const auto found = known_.find(call); found != known_.end()) return found->second;
  planner::Request request;
  request.collective = collective_;
  request.elements = series.count;  // of one block where there are blocks, as nccl-tests count
  request.element_bytes = *bytes;
  request.root = std::max(0, series.subject.root);
  request.in_place = series.subject.placement == Placement::in_place;
  if (request.root >= static_cast<Rank>(topology_.device_count())) {
    return invalid_argument(
        fmt::format("root {} is none of the {} devices of the topology", request.root, topology_.device_count()));
  }
  TUTTI_ASSIGN(const planner::Choice choice, planner::choose(topology_, request));
  Limit limit{.time_us = choice.best.estimate_s * 1e6, .plan = plan_text(choice.best)};
  known_.emplace(call, limit);
  return limit;
}

}  // namespace tutti::perf
