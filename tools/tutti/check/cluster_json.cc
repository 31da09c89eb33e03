#include "tools/tutti/check/cluster_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tools/tutti/check/report_json.h"

namespace tutti::tool::check {

namespace {

using Json = nlohmann::ordered_json;

// Lines that begin otherwise are not ours.
constexpr std::string_view kMark = "tutti-check ";

std::string line_of(const char* kind, const Json& value) {
  // What programs answered may be no UTF-8.
  Json line = Json::object();
  line[kind] = value;
  return std::string(kMark) + line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json json_of(const Pair& pair) {
  return {{"a", pair.a},
          {"b", pair.b},
          {"failure", pair.failure},
          {"latency_s", pair.latency_s},
          {"there_bytes_per_s", pair.there_bytes_per_s},
          {"back_bytes_per_s", pair.back_bytes_per_s},
          {"clock_offset_s", pair.clock_offset_s},
          {"way", pair.way}};
}

double number_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

std::string string_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Pair pair_of(const Json& json) {
  return {.a = static_cast<Rank>(number_of(json, "a")),
          .b = static_cast<Rank>(number_of(json, "b")),
          .failure = string_of(json, "failure"),
          .latency_s = number_of(json, "latency_s"),
          .there_bytes_per_s = number_of(json, "there_bytes_per_s"),
          .back_bytes_per_s = number_of(json, "back_bytes_per_s"),
          .clock_offset_s = number_of(json, "clock_offset_s"),
          .way = string_of(json, "way")};
}

void add_pair(Cluster& cluster, Rank host, const Pair& pair) {
  const auto size = static_cast<Rank>(cluster.hosts.size());
  const bool is_sane = pair.a >= 0 && pair.a < pair.b && pair.b < size && (host == pair.a || host == pair.b);
  if (!is_sane) return;
  const auto found =
      std::ranges::find_if(cluster.pairs, [&](const Pair& known) { return known.a == pair.a && known.b == pair.b; });
  if (found == cluster.pairs.end()) {
    cluster.pairs.push_back(pair);
  } else if (!found->failure.empty() && pair.failure.empty()) {
    *found = pair;
  }
}

void add_line(Cluster& cluster, Rank host, const Json& json) {
  CheckedHost& one = cluster.hosts[static_cast<std::size_t>(host)];
  if (const auto report = json.find("report"); report != json.end()) {
    if (auto read = report_of(*report)) one.report = *std::move(read);
  }
  if (const auto failure = json.find("failure"); failure != json.end() && failure->is_string()) {
    one.failure = failure->get<std::string>();
  }
  if (const auto pair = json.find("pair"); pair != json.end() && pair->is_object()) {
    add_pair(cluster, host, pair_of(*pair));
  }
}

}  // namespace

std::string line_of(const HostReport& report) { return line_of("report", json_of(report)); }
std::string line_of(const Pair& pair) { return line_of("pair", json_of(pair)); }
std::string failure_line(std::string_view failure) { return line_of("failure", Json(failure)); }

void add_lines(Cluster& cluster, Rank host, std::string_view lines) {
  for (const std::string_view line : text::split(lines, '\n')) {
    if (!line.starts_with(kMark)) continue;
    const Json json = Json::parse(line.substr(kMark.size()), nullptr, false);
    if (json.is_object()) add_line(cluster, host, json);
  }
}

Json json_of(const Cluster& cluster, const Tolerance& tolerance) {
  const auto offsets = clock_offsets_of(cluster);
  Json hosts = Json::array();
  for (std::size_t host = 0; host < cluster.hosts.size(); ++host) {
    const CheckedHost& one = cluster.hosts[host];
    Json json = {{"name", one.name}, {"failure", one.failure}};
    json["clock_offset_s"] = offsets[host] ? Json(*offsets[host]) : Json();
    json["report"] = one.report ? json_of(*one.report) : Json();
    hosts.push_back(std::move(json));
  }
  Json pairs = Json::array();
  for (const Pair& pair : cluster.pairs) pairs.push_back(json_of(pair));
  Json problems = Json::array();
  for (const Problem& problem : problems_of(cluster, tolerance)) {
    problems.push_back({{"text", problem.text}, {"remedy", problem.remedy}});
  }
  return {{"usable", problems.empty()},
          {"hosts", hosts},
          {"pairs", pairs},
          {"median_latency_s", latencies_of(cluster).median()},
          {"median_bytes_per_s", bandwidths_of(cluster).median()},
          {"problems", problems}};
}

}  // namespace tutti::tool::check
