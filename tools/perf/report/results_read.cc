// Reading runs back, from files of ours and of nccl-tests.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>

#include "tools/perf/report/json_place.h"
#include "tools/perf/report/results_json.h"

namespace tutti::perf {

namespace {

// We write null for what is no number, so a field that must be there reads as such and not as zero.
void read_measured(const JsonPlace& place, double& target) {
  target = std::numeric_limits<double>::quiet_NaN();
  place.read(target);
}

Stragglers stragglers_of(const JsonPlace& place) {
  Stragglers stragglers;
  if (!place.expect_object()) return stragglers;
  place.at("mean_us").read(stragglers.mean_us);
  place.at("slowest").read(stragglers.slowest);
  place.at("iterations").read(stragglers.iterations);
  if (stragglers.mean_us.size() != stragglers.slowest.size()) place.at("slowest").fail("as many numbers as in mean_us");
  return stragglers;
}

Distribution distribution_of(const JsonPlace& place) {
  Distribution distribution;
  read_measured(place.at("min_us"), distribution.min_us);
  read_measured(place.at("max_us"), distribution.max_us);
  read_measured(place.at("avg_us"), distribution.mean_us);
  read_measured(place.at("p50_us"), distribution.p50_us);
  read_measured(place.at("p95_us"), distribution.p95_us);
  read_measured(place.at("p99_us"), distribution.p99_us);
  read_measured(place.at("stdev_us"), distribution.deviation_us);
  read_measured(place.at("cv_pct"), distribution.variation_percent);
  return distribution;
}

std::optional<Measurement> measurement_of(const JsonPlace& place, const JsonPlace& per_iteration) {
  if (place.is_null() || !place.expect_object()) return std::nullopt;
  Measurement measurement;
  const bool is_cpu_time = place.value().contains("cpu_time") && !place.value().contains("time");
  read_measured(place.at(is_cpu_time ? "cpu_time" : "time"), measurement.time_us);
  read_measured(place.at("alg_bw"), measurement.algorithm_gbps);
  read_measured(place.at("bus_bw"), measurement.bus_gbps);
  place.at("nwrong").read(measurement.wrong);
  place.at("repeats_us").read(measurement.repeats_us);
  if (const JsonPlace late = place.at("stragglers"); !late.is_null()) measurement.stragglers = stragglers_of(late);
  if (!per_iteration.is_null() && per_iteration.expect_object()) {
    if (per_iteration.value().contains("min_us")) measurement.distribution = distribution_of(per_iteration);
    per_iteration.at("times_us").read(measurement.samples_us);
  }
  return measurement;
}

Row row_of(const JsonPlace& place) {
  Row row;
  if (!place.expect_object()) return row;
  place.at("size").need();
  place.at("size").read(row.bytes);
  place.at("count").read(row.count);
  place.at("type").read(row.type);
  place.at("redop").read(row.operation);
  place.at("root").read(row.root);
  place.at("plan").read(row.plan);
  place.at("estimate_us").read(row.estimate_us);
  row.out_of_place = measurement_of(place.at("out_of_place"), place.at("out_of_place_per_iter"));
  row.in_place = measurement_of(place.at("in_place"), place.at("in_place_per_iter"));
  return row;
}

Seat seat_of(const JsonPlace& place) {
  Seat seat;
  if (!place.expect_object()) return seat;
  place.at("rank").read(seat.rank);
  place.at("group").read(seat.group);
  place.at("pid").read(seat.pid);
  place.at("hostname").read(seat.host);
  place.at("device").read(seat.device);
  place.at("device_hex").read(seat.bus);
  place.at("device_info").read(seat.name);
  return seat;
}

void read_config(const JsonPlace& place, Setup& setup) {
  if (place.is_null() || !place.expect_object()) return;
  place.at("nthreads").read(setup.threads);
  place.at("ngpus").read(setup.devices_per_thread);
  place.at("minimum_bytes").read(setup.min_bytes);
  place.at("maximum_bytes").read(setup.max_bytes);
  place.at("step_factor").read(setup.step_factor);
  place.at("step_bytes").read(setup.step_bytes);
  place.at("warmup_iters").read(setup.warmup_iterations);
  place.at("iterations").read(setup.iterations);
  place.at("aggregated_iterations").read(setup.aggregated_iterations);
  place.at("repeats").read(setup.repeats);
  place.at("validation").read(setup.checks);
  place.at("graph").read(setup.graph_launches);
  bool is_blocking = false;
  place.at("blocking_collectives").read(is_blocking);
  setup.blocking = is_blocking ? 1 : 0;
  place.at("blocking_mode").read(setup.blocking);
  if (const JsonPlace devices = place.at("devices"); !devices.is_null() && devices.expect_list()) {
    for (std::size_t i = 0; i < devices.size(); ++i) setup.seats.push_back(seat_of(devices.at(i)));
  }
  setup.processes = setup.seats.empty() ? 1 : static_cast<int>(setup.seats.size());  // nccl-tests lists one of each
  place.at("processes").read(setup.processes);
}

// "NCCL 2.28.9" of 22809; before 2.9 there were fewer digits.
std::string name_of_version(int version) {
  if (version <= 0) return {};
  const int unit = version < 10000 ? 1000 : 10000;
  return fmt::format("NCCL {}.{}.{}", version / unit, version % unit / 100, version % 100);
}

// Files of nccl-tests say less; what follows from the rest is filled in.
Setup setup_of(const JsonPlace& place) {
  Setup setup;
  place.at("args").read(setup.command);
  if (!setup.command.empty()) setup.program = setup.command[0].substr(setup.command[0].find_last_of('/') + 1);
  place.at("program").read(setup.program);
  place.at("start_time").read(setup.started);
  place.at("end_time").read(setup.ended);
  place.at("nccl_version").read(setup.library_version);
  setup.library = name_of_version(setup.library_version);
  place.at("library").read(setup.library);
  place.at("tool_version").read(setup.tool_version);
  place.at("processor").read(setup.processor);
  place.at("system").read(setup.system);
  if (const JsonPlace settings = place.at("settings"); !settings.is_null() && settings.expect_list()) {
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const JsonPlace setting = settings.at(i);
      if (!setting.expect_object()) break;
      auto& [name, value] = setup.settings.emplace_back();
      setting.at("name").read(name);
      setting.at("value").read(value);
    }
  }
  read_config(place.at("config"), setup);
  return setup;
}

Run run_of(const JsonPlace& place) {
  Run run;
  if (!place.expect_object()) return run;
  run.setup = setup_of(place);
  if (const JsonPlace results = place.at("results"); results.expect_list()) {
    for (std::size_t i = 0; i < results.size(); ++i) run.rows.push_back(row_of(results.at(i)));
  }
  place.at("out_of_bounds").at("count").read(run.out_of_bounds);
  const JsonPlace average = place.at("average_bus_bandwidth");
  average.at("bandwidth").read(run.average_bus_gbps);
  const JsonPlace okay = average.at("okay");
  if (okay.value() != "unchecked") okay.read(run.bandwidth_reached);
  place.at("remarks").read(run.remarks);
  std::vector<std::string> errors;
  place.at("errors").read(errors);
  for (const std::string& error : errors) {
    if (!error.empty()) run.remarks.push_back("The library's last error was: " + error);
  }
  return run;
}

}  // namespace

Result<Run> parse_run(std::string_view text) {
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    return invalid_argument(
        fmt::format("this is no JSON: something is wrong at byte {} of {}", error.byte, text.size()));
  } catch (const nlohmann::json::exception& error) {
    return invalid_argument(fmt::format("this JSON cannot be read: {}", error.what()));
  }
  Status failure;
  Run run = run_of(JsonPlace(document, failure));
  TUTTI_TRY(failure);
  return run;
}

}  // namespace tutti::perf
