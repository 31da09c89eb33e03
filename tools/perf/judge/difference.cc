#include "tools/perf/judge/difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "tools/perf/judge/series.h"

namespace tutti::perf {

namespace {

std::string device_names(const Run& run) {
  std::set<std::string> names;
  for (const Seat& seat : run.setup.seats) names.insert(seat.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string host_count(const Run& run) {
  std::set<std::string> hosts;
  for (const Seat& seat : run.setup.seats) hosts.insert(seat.host);
  return hosts.empty() ? "" : fmt::format("{}", hosts.size());
}

// The number of the version where a log gives no name.
std::string library_name(const Setup& setup) {
  if (!setup.library.empty()) return setup.library;
  return setup.library_version > 0 ? fmt::format("library version {}", setup.library_version) : "";
}

std::string number_text(int number) { return number > 0 ? fmt::format("{}", number) : ""; }

std::string setting_differences(const Setup& now, const Setup& baseline) {
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (const auto& [name, value] : now.settings) values[name].first = value;
  for (const auto& [name, value] : baseline.settings) values[name].second = value;
  std::vector<std::string> found;
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("unset") : value; };
  for (const auto& [name, pair] : values) {
    if (pair.first == pair.second) continue;
    found.push_back(fmt::format("{} is {} now and was {}", name, shown(pair.first), shown(pair.second)));
  }
  return fmt::format("{}", fmt::join(found, "; "));
}

}  // namespace

Status check_comparable(const Run& now, const Run& baseline) {
  const std::string collective = collective_name(now);
  const std::string other = collective_name(baseline);
  if (!collective.empty() && !other.empty() && collective != other) {
    return invalid_argument(
        fmt::format("the baseline is of {}, this run of {}: their times say nothing about one another; take a baseline "
                    "that the same program made",
                    baseline.setup.program, now.setup.program));
  }
  const auto ranks = rank_count(now);
  const auto other_ranks = rank_count(baseline);
  if (ranks && other_ranks && *ranks != *other_ranks) {
    return invalid_argument(
        fmt::format("the baseline has {} ranks, this run {}: run with as many ranks as the baseline, or make a new one",
                    *other_ranks, *ranks));
  }
  return {};
}

std::vector<std::string> differences_of(const Run& now, const Run& baseline) {
  std::vector<std::string> notes;
  const auto compare_texts = [&](std::string_view what, const std::string& present, const std::string& past) {
    if (present == past || present.empty() || past.empty()) return;
    notes.push_back(fmt::format("the {} differ{}: {} now, {} in the baseline", what,
                                what.ends_with('s') && !what.ends_with("ss") ? "" : "s", present, past));
  };
  compare_texts("library", library_name(now.setup), library_name(baseline.setup));
  compare_texts("devices", device_names(now), device_names(baseline));
  compare_texts("numbers of hosts", host_count(now), host_count(baseline));
  compare_texts("processor", now.setup.processor, baseline.setup.processor);
  compare_texts("system", now.setup.system, baseline.setup.system);
  compare_texts("numbers of iterations", number_text(now.setup.iterations), number_text(baseline.setup.iterations));
  compare_texts("numbers of aggregated iterations", number_text(now.setup.aggregated_iterations),
                number_text(baseline.setup.aggregated_iterations));
  compare_texts("numbers of graph launches", fmt::format("{}", now.setup.graph_launches),
                fmt::format("{}", baseline.setup.graph_launches));
  if (now.setup.blocking != baseline.setup.blocking) {
    notes.push_back(fmt::format("the ways of blocking differ: -z {} now, -z {} in the baseline", now.setup.blocking,
                                baseline.setup.blocking));
  }
  if (const std::string settings = setting_differences(now.setup, baseline.setup); !settings.empty()) {
    notes.push_back(settings);
  }
  for (const auto& [run, name] : {std::pair{&now, "this run"}, std::pair{&baseline, "the baseline"}}) {
    if (collective_name(*run).empty()) notes.push_back(fmt::format("{} does not say which collective it is of", name));
    if (!rank_count(*run)) notes.push_back(fmt::format("{} does not say how many ranks took part", name));
    if (run->out_of_bounds != 0) notes.push_back(fmt::format("{} has wrong data: its times are worth little", name));
  }
  return notes;
}

std::string description_of(const Run& run) {
  std::vector<std::string> parts;
  const auto add = [&](std::string part) {
    if (!part.empty()) parts.push_back(std::move(part));
  };
  add(run.setup.program);
  if (const auto ranks = rank_count(run)) add(fmt::format("{} rank{}", *ranks, *ranks == 1 ? "" : "s"));
  add(library_name(run.setup));
  add(run.setup.started);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tutti::perf
