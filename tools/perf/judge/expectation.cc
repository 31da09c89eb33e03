#include "tools/perf/judge/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/perf/judge/limit.h"

namespace tutti::perf {

namespace {

Status check_ranks(const Run& run, const topology::Topology& topology) {
  const auto ranks = rank_count(run);
  const std::size_t devices = topology.device_count();
  if (!ranks) {
    return invalid_argument(
        fmt::format("the run does not say how many ranks took part; the topology has {} devices", devices));
  }
  if (*ranks != devices) {
    return invalid_argument(
        fmt::format("the run has {} ranks, the topology \"{}\" {} devices: measure with {} ranks, or describe the {} "
                    "that took part (docs/guide/topologies.md)",
                    *ranks, topology.name, devices, devices, *ranks));
  }
  return {};
}

bool is_split(const Run& run) {
  std::set<int> groups;
  for (const Seat& seat : run.setup.seats) groups.insert(seat.group);
  return groups.size() > 1;
}

ExpectedRow row_of(const Series& series, const Limit& limit) {
  const double fraction = limit.time_us / series.time_us;
  return {.subject = series.subject,
          .measured_us = series.time_us,
          .limit_us = limit.time_us,
          .fraction = fraction,
          .bus_gbps = series.bus_gbps,
          .limit_bus_gbps = fraction > 0 ? series.bus_gbps / fraction : 0,
          .plan = limit.plan};
}

void add_rows(const Run& run, const topology::Topology& topology, plan::Collective collective,
              Expectation& expectation) {
  Limits limits(topology, collective);
  std::set<std::string> refused;
  for (const Series& series : series_of(run)) {
    const auto limit = limits.of(series);
    if (limit && limit->time_us > 0) {
      expectation.rows.push_back(row_of(series, *limit));
    } else if (!limit && refused.emplace(limit.status().text()).second) {
      expectation.notes.push_back(fmt::format("no limit for {}: {}", text_of(series.subject), limit.status().text()));
    }
  }
}

void add_suspicions(const Run& run, Expectation& expectation) {
  std::map<Subject, double> limits;
  for (const ExpectedRow& row : expectation.rows) limits.emplace(row.subject, row.limit_us);
  const Surroundings surroundings = surroundings_of(run);
  const auto against_limits = [&](const SizeCurve* curve) {
    if (curve == nullptr) return std::vector<Suspicion>();
    std::vector<double> limits_us;
    for (const Series& point : curve->points) {
      const auto found = limits.find(point.subject);
      limits_us.push_back(found == limits.end() ? 0 : found->second);
    }
    return suspicions_against(*curve, limits_us, surroundings);
  };
  const std::vector<SizeCurve> curves = curves_of(run);
  for (const CurvePair& pair : pairs_of(curves)) {
    for (Suspicion& found : merged(pair, against_limits(pair.out_of_place), against_limits(pair.in_place))) {
      expectation.suspicions.push_back(std::move(found));
    }
  }
  for (Suspicion& found : suspicions_of(run)) expectation.suspicions.push_back(std::move(found));
}

}  // namespace

Result<Expectation> expect(const Run& run, const topology::Topology& topology) {
  const std::string name = collective_name(run);
  if (!is_known_program(name)) {
    return invalid_argument(
        name.empty() ? std::string("the run does not say which program made it, so no limit is known")
                     : fmt::format("'{}' is none of the perf tools, so no limit is known", run.setup.program));
  }
  TUTTI_TRY(check_ranks(run, topology));
  Expectation expectation;
  expectation.topology = topology.name;
  const auto collective = planned_collective(name);
  if (is_split(run)) {
    expectation.notes.push_back("the ranks are split into groups that share the machine: there is no limit for that");
  } else if (!collective) {
    expectation.notes.push_back(
        fmt::format("{} is not one collective of the planner: there is no limit for it", run.setup.program));
  } else {
    add_rows(run, topology, *collective, expectation);
  }
  add_suspicions(run, expectation);
  return expectation;
}

}  // namespace tutti::perf
