// Virtual time: how long a plan takes on a machine that need not exist.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/chunk_map.h"
#include "tutti/plan.h"

namespace tutti::plan {

// The links a transfer occupies, all at once, and the delay of its last byte.
struct Route {
  std::vector<std::uint32_t> links;
  double latency_s = 0;
};

// What the simulator asks of a machine. A link is anything with a bandwidth that transfers share fairly: a cable, a
// switch port, a memory.
class Model {
 public:
  virtual ~Model() = default;
  virtual std::size_t link_count() const = 0;
  virtual double bytes_per_s(std::uint32_t link) const = 0;
  virtual std::string link_name(std::uint32_t link) const = 0;
  virtual Route route(Rank from, Rank to, std::uint32_t lane) const = 0;  // from == to: the rank's own memory
  virtual double launch_s() const = 0;                                    // a call that moves nothing
  virtual double step_s() const = 0;                                      // a step that moves nothing
};

struct SimulateOptions {
  std::uint64_t elements = 0;  // per block as even_maps counts them
  std::uint32_t element_bytes = 4;
  std::uint64_t tile_bytes = 1 << 20;  // of one chunk
  bool record_spans = false;           // keep what the timeline draws
};

// One step of one tile, for drawing.
struct Span {
  Rank rank;
  std::uint32_t lane;
  std::uint32_t step;
  std::uint32_t tile;
  double begin_s;  // when everything it takes was there
  double end_s;
};

struct LinkUse {
  std::uint32_t link;
  std::string name;
  double bytes;
  double busy_s;  // time with at least one transfer
};

struct Timeline {
  double total_s = 0;
  std::uint64_t tiles = 0;
  std::uint64_t events = 0;
  std::vector<double> rank_end_s;
  std::vector<LinkUse> busiest;  // most bytes per bandwidth first
  std::vector<Span> spans;
};

// A plan that blocks for ever, or whose layout is impossible, is an error; check() says more.
Result<Timeline> simulate(const Plan& plan, const Model& model, const SimulateOptions& options);

// The timeline as a picture and as a trace for chrome://tracing and ui.perfetto.dev.
std::string draw_svg(const Plan& plan, const Timeline& timeline, std::string_view title);
std::string write_trace(const Plan& plan, const Timeline& timeline);

}  // namespace tutti::plan
