#include <nlohmann/json.hpp>

#include "bench/comparison/contenders.h"
#include "bench/comparison/hosts.h"
#include "bench/comparison/report.h"
#include "bench/comparison/targets.h"

namespace tutti::bench {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Facts& facts) {
  return {{"machine",
           {{"cpu", facts.cpu},
            {"cores", facts.cores},
            {"kernel", facts.kernel},
            {"transparent_huge_pages", facts.huge_pages}}},
          {"commit", facts.commit},
          {"date", facts.date},
          {"command", facts.command},
          {"versions", facts.versions}};
}

Json json_of(const Case& what) {
  return {{"collective", plan::name_of(what.collective)}, {"ranks", what.ranks}, {"bytes", what.bytes}};
}

void add_mark(Json& json, const char* name, const std::optional<Mark>& mark) {
  if (!mark) return;
  json[name] = mark->value;
  if (!mark->target) return;
  json[std::string(name) + "_target"] = *mark->target;
  json[std::string(name) + "_met"] = mark->is_met();
}

Json json_of(const Score& score) {
  Json json = {{"median_s", score.tutti.median_s}, {"spread", score.tutti.spread}};
  add_mark(json, "ratio", score.ratio);
  add_mark(json, "of_bound", score.of_bound);
  return json;
}

Json samples_of(const Samples& samples, const Case& what) {
  Json all = Json::array();
  for (const std::string& name : samples.contenders(what)) {
    const auto best = samples.of(what, name);
    all.push_back({{"contender", name},
                   {"median_s", best->median_s},
                   {"spread", best->spread},
                   {"seconds", samples.times(what, name)},
                   {"wrong_runs", samples.wrong_count(what, name)}});
  }
  return all;
}

Json result_of(const Report& report, const Case& what) {
  const Samples& samples = report.samples;
  Json json = json_of(what);
  if (const auto peer = samples.best_peer(what)) {
    json["best_peer"] = {{"contender", peer->contender}, {"median_s", peer->median_s}, {"spread", peer->spread}};
  }
  if (const auto bound = samples.of(what, kBound)) json["bound_s"] = bound->median_s;
  if (const auto line = line_s(what, report.network)) json["line_s"] = *line;
  if (const auto score = score_of(samples, what, BufferKind::malloc, report.network)) json["tutti"] = json_of(*score);
  if (const auto score = score_of(samples, what, BufferKind::allocated, report.network))
    json["tutti_allocated"] = json_of(*score);
  json["contenders"] = samples_of(samples, what);
  return json;
}

Json json_of(const Network& network) {
  return {{"hosts", network.host_count},
          {"rails", network.rail_count},
          {"bits_per_second", network.bits_per_second},
          {"mtu", network.mtu}};
}

Json contenders_json(const Network& network) {
  Json all = Json::object();
  for (const Contender& contender : network.host_count > 1 ? contenders_across_hosts() : all_contenders()) {
    all[contender.name] = {{"launcher", contender.launcher},
                           {"environment", contender.environment},
                           {"arguments", contender.arguments},
                           {"congestion_control", contender.congestion_control}};
  }
  return all;
}

}  // namespace

std::string json_text(const Report& report) {
  Json json = json_of(report.facts);
  json["network"] = json_of(report.network);
  json["settings"] = contenders_json(report.network);
  json["results"] = Json::array();
  for (const Case& what : report.samples.cases()) json["results"].push_back(result_of(report, what));
  json["failures"] = Json::array();
  for (const Failure& failure : report.failures) json["failures"].push_back(failure.text);
  json["foreign_cores"] = report.foreign_cores;
  return json.dump(1) + "\n";
}

}  // namespace tutti::bench
