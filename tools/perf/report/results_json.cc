#include "tools/perf/report/results_json.h"

#include <cmath>
#include <iterator>

namespace tutti::perf {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFileVersion = 3;  // that of nccl-tests whose fields these are

// JSON has no word for what is no number; readers get null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json json_of(const Stragglers& stragglers) {
  return {
      {"mean_us", numbers(stragglers.mean_us)}, {"slowest", stragglers.slowest}, {"iterations", stragglers.iterations}};
}

Json json_of(const Measurement& measurement) {
  Json json;
  json["time"] = number(measurement.time_us);
  json["alg_bw"] = number(measurement.algorithm_gbps);
  json["bus_bw"] = number(measurement.bus_gbps);
  json["nwrong"] = measurement.wrong ? Json(*measurement.wrong) : Json(nullptr);
  if (!measurement.repeats_us.empty()) json["repeats_us"] = numbers(measurement.repeats_us);
  if (measurement.stragglers) json["stragglers"] = json_of(*measurement.stragglers);
  return json;
}

Json per_iteration_of(const Measurement& measurement) {
  Json json;
  if (measurement.distribution) {
    const Distribution& distribution = *measurement.distribution;
    json["min_us"] = number(distribution.min_us);
    json["max_us"] = number(distribution.max_us);
    json["avg_us"] = number(distribution.mean_us);
    json["p50_us"] = number(distribution.p50_us);
    json["p95_us"] = number(distribution.p95_us);
    json["p99_us"] = number(distribution.p99_us);
    json["stdev_us"] = number(distribution.deviation_us);
    json["cv_pct"] = number(distribution.variation_percent);
  }
  json["times_us"] = numbers(measurement.samples_us);
  return json;
}

void put_place(Json& row, const std::string& name, const std::optional<Measurement>& measurement) {
  row[name] = measurement ? json_of(*measurement) : Json(nullptr);
  if (measurement && (measurement->distribution || !measurement->samples_us.empty())) {
    row[name + "_per_iter"] = per_iteration_of(*measurement);
  }
}

Json json_of(const Row& row) {
  Json json;
  json["size"] = row.bytes;
  json["count"] = row.count;
  json["type"] = row.type;
  json["redop"] = row.operation;
  json["root"] = row.root;
  if (row.plan) json["plan"] = *row.plan;
  if (row.estimate_us) json["estimate_us"] = number(*row.estimate_us);
  put_place(json, "out_of_place", row.out_of_place);
  put_place(json, "in_place", row.in_place);
  return json;
}

Json json_of(const Seat& seat) {
  return {{"rank", seat.rank},     {"group", seat.group},    {"pid", seat.pid},         {"hostname", seat.host},
          {"device", seat.device}, {"device_hex", seat.bus}, {"device_info", seat.name}};
}

Json config_of(const Setup& setup) {
  Json json;
  json["nthreads"] = setup.threads;
  json["ngpus"] = setup.devices_per_thread;
  json["processes"] = setup.processes;
  json["minimum_bytes"] = setup.min_bytes;
  json["maximum_bytes"] = setup.max_bytes;
  if (setup.step_factor != 0) json["step_factor"] = setup.step_factor;
  if (setup.step_bytes != 0) json["step_bytes"] = setup.step_bytes;
  json["warmup_iters"] = setup.warmup_iterations;
  json["iterations"] = setup.iterations;
  json["aggregated_iterations"] = setup.aggregated_iterations;
  json["repeats"] = setup.repeats;
  json["validation"] = setup.checks;
  json["graph"] = setup.graph_launches;
  json["blocking_collectives"] = setup.blocking != 0;
  json["blocking_mode"] = setup.blocking;
  json["devices"] = Json::array();
  for (const Seat& seat : setup.seats) json["devices"].push_back(json_of(seat));
  return json;
}

// Texts may be of any bytes: host names and settings come from outside.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Json to_json(const Run& run) {
  const Setup& setup = run.setup;
  Json json;
  json["version"] = kFileVersion;
  json["program"] = setup.program;
  json["start_time"] = setup.started;
  json["args"] = setup.command;
  json["nccl_version"] = setup.library_version;
  json["library"] = setup.library;
  json["tool_version"] = setup.tool_version;
  json["processor"] = setup.processor;
  json["system"] = setup.system;
  json["settings"] = Json::array();
  for (const auto& [name, value] : setup.settings) json["settings"].push_back({{"name", name}, {"value", value}});
  json["config"] = config_of(setup);
  json["results"] = Json::array();
  for (const Row& row : run.rows) json["results"].push_back(json_of(row));
  json["out_of_bounds"] = {{"count", run.out_of_bounds}, {"okay", run.out_of_bounds == 0}};
  json["average_bus_bandwidth"] = {{"bandwidth", number(run.average_bus_gbps)},
                                   {"okay", run.bandwidth_reached ? Json(*run.bandwidth_reached) : Json(nullptr)}};
  json["errors"] = Json::array();  // nccl-tests puts the last words of the library here; ours are among the remarks
  json["remarks"] = run.remarks;
  json["end_time"] = setup.ended;
  return json;
}

std::string json_text(const Run& run) {
  const Json json = to_json(run);
  std::string text = "{";
  for (const auto& [name, value] : json.items()) {
    text += (text.size() == 1 ? "\n  " : ",\n  ") + text_of(name) + ": ";
    if (name != "results" || value.empty()) {
      text += text_of(value);
      continue;
    }
    text += "[";
    for (std::size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "\n    " : ",\n    ") + text_of(value[i]);
    text += "\n  ]";
  }
  return text + "\n}\n";
}

}  // namespace tutti::perf
