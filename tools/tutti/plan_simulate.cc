#include "tools/tutti/plan_simulate.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tools/tutti/plan_options.h"
#include "tutti/simulate.h"

namespace tutti::tool {

namespace {

// "1 lane", "2 lanes".
std::string count_text(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string describe(const planner::Candidate& candidate) {
  const std::string rings =
      candidate.shape.orders.empty() ? "" : ", " + count_text(candidate.shape.orders.size(), "ring");
  return fmt::format("{:<22} {:<19} tiles of {:<9}", candidate.algorithm->name,
                     count_text(candidate.shape.lanes, "lane") + rings, text::bytes_text(candidate.tile_bytes));
}

// Algorithm bandwidth is bytes / time; bus bandwidth is what a link of the ring would see, as nccl-tests define it.
double bus_factor(plan::Collective collective, double ranks) {
  switch (collective) {
    case plan::Collective::all_reduce: return 2 * (ranks - 1) / ranks;
    case plan::Collective::all_gather:
    case plan::Collective::reduce_scatter:
    case plan::Collective::gather:
    case plan::Collective::scatter:
    case plan::Collective::all_to_all: return ranks - 1;  // of one block
    case plan::Collective::broadcast:
    case plan::Collective::reduce:
    case plan::Collective::send_receive: return 1;
    case plan::Collective::barrier: return 0;
  }
  return 0;
}

int explain(const CallOptions& options) {
  const auto topology = topology::read_file(options.topology);
  if (!topology) return fail(topology.status());
  const auto request = request_of(options, *topology);
  if (!request) return refuse(request.status());
  const auto choice = planner::choose(*topology, *request);
  if (!choice) return refuse(choice.status());
  fmt::print("{} on {} ({} on {})\n", describe(options), topology->name, count_text(topology->device_count(), "rank"),
             count_text(topology->hosts.size(), "host"));
  fmt::print("  {}\n\n", choice->why);
  fmt::print("  {} {:>12}  <- chosen\n", describe(choice->best), text::seconds_text(choice->best.estimate_s));
  for (const planner::Candidate& other : choice->others) {
    fmt::print("  {} {:>12}\n", describe(other), text::seconds_text(other.estimate_s));
  }
  return kExitDone;
}

struct SimulateCommandOptions {
  CallOptions call;
  std::string algorithm;
  std::uint32_t lanes = 0;
  std::uint64_t tile_bytes = 0;
  std::string svg;
  std::string trace;
  std::uint32_t links = 5;
};

// The planner's choice, or the algorithm that the user names in the planner's surroundings.
Result<planner::Candidate> candidate_of(const SimulateCommandOptions& options, const topology::Topology& topology,
                                        const planner::Request& request) {
  if (options.algorithm.empty()) {
    TUTTI_ASSIGN(const planner::Choice choice, planner::choose(topology, request));
    planner::Candidate best = choice.best;
    if (options.lanes > 0) {
      best.shape.lanes = options.lanes;
      best.shape.orders.clear();
    }
    if (options.tile_bytes > 0) best.tile_bytes = options.tile_bytes;
    return best;
  }
  TUTTI_ASSIGN(const plan::Algorithm* algorithm, find_algorithm(options.algorithm, request.collective));
  for (planner::Candidate candidate : planner::candidates(topology, request)) {
    if (candidate.algorithm != algorithm) continue;
    if (options.lanes > 0) {
      candidate.shape.lanes = options.lanes;
      candidate.shape.orders.clear();
    }
    if (options.tile_bytes > 0) candidate.tile_bytes = options.tile_bytes;
    return candidate;
  }
  return invalid_argument(fmt::format("{} does not fit {} on {}; 'tutti plan explain' shows what does",
                                      options.algorithm, plan::name_of(request.collective), options.call.topology));
}

Status write_pictures(const SimulateCommandOptions& options, const plan::Plan& plan, const plan::Timeline& timeline,
                      const std::string& title) {
  if (!options.svg.empty()) {
    TUTTI_TRY(write_text(options.svg, plan::draw_svg(plan, timeline, title)));
    fmt::print("  timeline drawn to {}\n", options.svg);
  }
  if (!options.trace.empty()) {
    TUTTI_TRY(write_text(options.trace, plan::write_trace(plan, timeline)));
    fmt::print("  trace written to {} (open it in ui.perfetto.dev or chrome://tracing)\n", options.trace);
  }
  return {};
}

// A candidate, its plan and what the simulator says of it.
struct Simulated {
  planner::Candidate candidate;
  plan::Plan plan;
  plan::Timeline timeline;
};

Result<Simulated> simulate_call(const SimulateCommandOptions& options, const topology::Topology& topology,
                                const planner::Request& request) {
  TUTTI_ASSIGN(const planner::Candidate candidate, candidate_of(options, topology, request));
  TUTTI_ASSIGN(plan::Plan plan, plan::build(*candidate.algorithm, candidate.shape));
  const auto model = planner::create_model(topology);
  TUTTI_ASSIGN(plan::Timeline timeline,
               plan::simulate(plan, *model,
                              {.elements = request.elements,
                               .element_bytes = request.element_bytes,
                               .tile_bytes = candidate.tile_bytes,
                               .record_spans = !options.svg.empty() || !options.trace.empty()}));
  return Simulated{candidate, std::move(plan), std::move(timeline)};
}

int simulate(const SimulateCommandOptions& options) {
  const auto topology = topology::read_file(options.call.topology);
  if (!topology) return fail(topology.status());
  const auto request = request_of(options.call, *topology);
  if (!request) return refuse(request.status());
  const auto simulated = simulate_call(options, *topology, *request);
  if (!simulated) return refuse(simulated.status());
  const auto& [candidate, plan, timeline] = *simulated;
  const std::string title =
      fmt::format("{} {} on {}", candidate.algorithm->name, describe(options.call), topology->name);
  fmt::print("{}\n", title);
  fmt::print("  {}, {}, {} of {}; {} steps, {} events\n", count_text(static_cast<std::uint64_t>(plan.ranks), "rank"),
             count_text(candidate.shape.lanes, "lane"), count_text(timeline.tiles, "tile"),
             text::bytes_text(candidate.tile_bytes), plan.step_count(), timeline.events);
  const double rate = static_cast<double>(options.call.bytes) / timeline.total_s;
  fmt::print("  time {}, algorithm bandwidth {}, bus bandwidth {}\n", text::seconds_text(timeline.total_s),
             text::rate_text(rate), text::rate_text(rate * bus_factor(request->collective, plan.ranks)));
  fmt::print("  busiest links:\n");
  for (std::size_t i = 0; i < timeline.busiest.size() && i < options.links; ++i) {
    const plan::LinkUse& use = timeline.busiest[i];
    fmt::print("    {:<28} {:>10}, busy {:>3.0f} % of the time\n", use.name,
               text::bytes_text(static_cast<std::uint64_t>(use.bytes)), 100 * use.busy_s / timeline.total_s);
  }
  const Status written = write_pictures(options, plan, timeline, title);
  return written ? kExitDone : fail(written);
}

}  // namespace

void add_plan_explain_command(CLI::App& group, Commands& commands) {
  commands.add<CallOptions>(
      group,
      {"explain", "Say which plan a call would use on a machine, how long it would take, and why.",
       "tutti plan explain share/topologies/laptop.topo --bytes 4K\n"
       "tutti plan explain share/topologies/laptop.topo --bytes 64 --reach stage\n"
       "tutti plan explain share/topologies/a100x16.topo --collective all_gather --bytes 1M"},
      add_call_options, explain);
}

void add_plan_simulate_command(CLI::App& group, Commands& commands) {
  commands.add<SimulateCommandOptions>(
      group,
      {"simulate", "Run a call in virtual time on a machine that need not exist.",
       "tutti plan simulate share/topologies/a100x16.topo --bytes 64M --svg timeline.svg\n"
       "tutti plan simulate share/topologies/v100x8.topo --algorithm tree --lanes 2 --trace trace.json\n"
       "tutti plan simulate share/topologies/h100x4096.topo --bytes 1G"},
      [](CLI::App& command, SimulateCommandOptions& options) {
        add_call_options(command, options.call);
        command.add_option("--algorithm", options.algorithm, "Instead of the planner's choice")
            ->type_name("NAME")
            ->check(one_of(algorithm_names()));
        command.add_option("--lanes", options.lanes, "Instead of the planner's choice")->type_name("N");
        add_bytes(command, "--tile", options.tile_bytes, "Instead of the planner's choice");
        command.add_option("--links", options.links, "How many of the busiest links to show")
            ->type_name("N")
            ->capture_default_str();
        command.add_option("--svg", options.svg, "Draw the timeline to this file")->type_name("FILE");
        command.add_option("--trace", options.trace, "Write a Chrome/Perfetto trace to this file")->type_name("FILE");
      },
      simulate);
}

}  // namespace tutti::tool
