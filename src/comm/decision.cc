#include "comm/decision.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "comm/watch/recorder.h"
#include "engine/host/flash.h"
#include "engine/host/prepared.h"
#include "planner/hosts.h"
#include "transport/block.h"

namespace tutti::comm {

namespace {

using plan::Collective;
using plan::Reach;

Result<std::vector<plan::ChunkMap>> maps_of(const plan::Header& header, const Call& call) {
  if (call.counts.empty()) return plan::even_maps(header, call.count);
  return plan::variable_maps(header, {call.counts.begin(), call.counts.end()});
}

engine::Elements elements_of(const Call& call) {
  const CustomOperation* custom = plan::reduces(call.collective) ? call.reduction.custom : nullptr;
  if (custom != nullptr) {
    return {.bytes = static_cast<std::uint32_t>(custom->element_bytes), .is_custom = true};
  }
  return {.type = call.type,
          .op = plan::reduces(call.collective) ? call.reduction.op : Op::sum,
          .bytes = static_cast<std::uint32_t>(size_of(call.type))};
}

planner::Request request_of(const Call& call, bool in_place) {
  planner::Request request{.collective = call.collective,
                           .elements = call.count,
                           .element_bytes = elements_of(call).bytes,
                           .root = call.root,
                           .peer = call.peer,
                           .in_place = in_place};
  if (!call.counts.empty()) {  // as if all were alike
    std::uint64_t total = 0;
    for (const std::uint64_t count : call.counts) total += count;
    request.elements = total / call.counts.size();
  }
  return request;
}

// Less takes longer for its hops than for its bytes, and plans with one hop complete sums in several places. Measured
// on links of 1 to 10 Gbit/s.
constexpr std::uint64_t kCompressedBytesMin = 32 << 10;

// What values of this call become between hosts; nothing: they stay what they are.
std::optional<DataType> wire_type_of(const DecisionContext& context, const Call& call) {
  const bool is_off = context.compression == WireCompression::off || context.hosts.empty();
  if (is_off || !plan::reduces(call.collective) || call.reduction.custom != nullptr) return std::nullopt;
  const Op op = call.reduction.op;
  const bool adds = op == Op::sum || op == Op::average || op == Op::scaled_sum;
  if (!adds || call.type != DataType::float32) return std::nullopt;
  // The input, which every rank has all of.
  const std::uint64_t elements = buffer_sizes(call, context.self, context.machine.ranks).in_elements;
  if (elements * size_of(call.type) < kCompressedBytesMin) return std::nullopt;
  return context.compression == WireCompression::bf16 ? DataType::bfloat16 : DataType::float16;
}

planner::Request request_over_hosts(const DecisionContext& context, const Call& call) {
  planner::Request request = request_of(call, true);
  if (const auto type = wire_type_of(context, call)) {
    request.wire_element_bytes = static_cast<std::uint32_t>(size_of(*type));
  }
  return request;
}

constexpr bool kMapped = true;

// What everybody has, whatever the buffers are.
planner::Access least_access(const DecisionContext& context) {
  const bool is_mapped = context.is_one_process;
  return {is_mapped || context.machine.can_pull ? Reach::full : Reach::stage, is_mapped};
}

planner::Cluster cluster_of(const DecisionContext& context) {
  planner::Cluster cluster{.machine = context.machine, .host_of = {context.hosts.begin(), context.hosts.end()}};
  const NetworkRates& network = context.network;
  if (!network.is_known()) return cluster;
  cluster.network_bytes_per_s = network.bytes_per_s;
  cluster.network_message_s = network.message_s;
  // What was measured from end to end has both ends' work in it, which the planner counts by itself.
  cluster.network_latency_s = std::max(0.0, network.latency_s - 2 * network.message_s);
  // A core that fills the network is at least as fast.
  cluster.socket_bytes_per_s = std::max(cluster.socket_bytes_per_s, network.bytes_per_s);
  return cluster;
}

const AllowedAlgorithms* find_allowed(const DecisionContext& context, Collective collective) {
  const auto found = std::ranges::find(context.allowed, collective, &AllowedAlgorithms::collective);
  return found == context.allowed.end() || context.machine.ranks == 1 ? nullptr : &*found;
}

bool is_restricted(const DecisionContext& context, Collective collective) {
  return !context.algorithm.empty() || find_allowed(context, collective) != nullptr;
}

bool may_run(const DecisionContext& context, const plan::Algorithm& algorithm) {
  if (context.machine.ranks == 1) return true;
  if (!context.algorithm.empty()) return algorithm.name == context.algorithm;
  const AllowedAlgorithms* const allowed = find_allowed(context, algorithm.collective);
  return allowed == nullptr || std::ranges::find(allowed->names, algorithm.name) != allowed->names.end();
}

// The same with everything to choose from.
DecisionContext unrestricted(DecisionContext context) {
  context.algorithm.clear();
  context.allowed.clear();
  return context;
}

// "ring or chain, as NCCL_ALGO=ring says".
std::string restriction_text(const DecisionContext& context, Collective collective) {
  if (!context.algorithm.empty()) return context.algorithm;
  const AllowedAlgorithms* const allowed = find_allowed(context, collective);
  if (allowed == nullptr) return "no algorithm";
  if (allowed->names.empty()) return fmt::format("what {} allows", context.allowed_by);
  const std::string names = fmt::format("{}", fmt::join(allowed->names, " or "));
  return context.allowed_by.empty() ? names : fmt::format("{}, as {} says,", names, context.allowed_by);
}

// The candidates that are allowed.
Result<std::vector<planner::Candidate>> candidates_of(const DecisionContext& context, const planner::Request& request,
                                                      const planner::Access& access) {
  auto ranked = context.hosts.empty() ? planner::rank_local(context.machine, request, access)
                                      : planner::rank_hosts(cluster_of(context), request, access.reach);
  std::erase_if(ranked, [&](const auto& candidate) { return !may_run(context, *candidate.algorithm); });
  if (ranked.empty()) {
    const bool is_narrowed = request.wire_element_bytes != 0;
    return Status(Code::unsupported,
                  fmt::format("{} cannot run {} over {} ranks here{}; leave the algorithm to the planner",
                              restriction_text(context, request.collective), plan::name_of(request.collective),
                              context.machine.ranks,
                              is_narrowed ? " with the same bits on all of them under TUTTI_COMPRESS" : ""));
  }
  return ranked;
}

Result<std::shared_ptr<const engine::Launch>> launch_of(const DecisionContext& context, const Call& call,
                                                        const planner::Candidate& candidate, bool is_mapped) {
  TUTTI_ASSIGN(auto prepared, engine::prepare(*candidate.algorithm, candidate.shape, context.self));
  TUTTI_ASSIGN(const auto maps, maps_of(prepared->header, call));
  engine::LaunchOptions options = context.launch;
  if (!context.hosts.empty() && candidate.tile_bytes > 0) options.tile_bytes_max = candidate.tile_bytes;
  options.is_mapped = is_mapped;
  engine::Elements elements = elements_of(call);
  elements.wire_type = wire_type_of(context, call);
  TUTTI_ASSIGN(auto launch, engine::create_launch(std::move(prepared), maps, elements, options, context.self));
  return std::make_shared<const engine::Launch>(std::move(launch));
}

struct Choice {
  planner::Candidate candidate;
  std::shared_ptr<const engine::Launch> launch;
};

// The best whose messages fit the outbox; where there is a rival, only what is better than it.
Result<Choice> choose(const DecisionContext& context, const Call& call, const planner::Request& request,
                      const planner::Access& access, const planner::Candidate* rival = nullptr) {
  TUTTI_ASSIGN(const auto ranked, candidates_of(context, request, access));
  Status first;
  for (const planner::Candidate& candidate : ranked) {
    if (rival != nullptr && (candidate.algorithm == rival->algorithm || candidate.estimate_s >= rival->estimate_s)) {
      return Status(Code::unsupported, "nothing is better");
    }
    auto launch = launch_of(context, call, candidate, access.is_mapped);
    if (launch) return Choice{candidate, *std::move(launch)};
    if (launch.status().code() != Code::unsupported) return launch.status();
    if (first.is_ok()) first = launch.status();
  }
  return first;
}

// Whether the choice for mapped buffers, which need not run in place, is the best for any buffers too.
bool is_best_anywhere(const DecisionContext& context, const Call& call, const planner::Candidate& choice,
                      const planner::Candidate& rival) {
  if (!context.machine.can_pull) return false;
  const auto ranked = planner::rank_local(context.machine, request_of(call, false), least_access(context));
  return !ranked.empty() && ranked[0].algorithm == choice.algorithm && ranked[0].estimate_s < rival.estimate_s;
}

// The caller gives its own block where the plan's buffer has everybody's.
void set_shifts(Decision& decision, const Call& call, Rank rank, std::uint64_t element_bytes) {
  std::uint64_t before = call.count * static_cast<std::uint64_t>(rank);
  if (!call.counts.empty() && call.collective != Collective::all_to_all) {
    before = 0;
    for (Rank i = 0; i < rank; ++i) before += call.counts[static_cast<std::size_t>(i)];
  }
  const bool in_is_block = call.collective == Collective::all_gather || call.collective == Collective::gather;
  const bool out_is_block = call.collective == Collective::reduce_scatter || call.collective == Collective::scatter;
  if (in_is_block) decision.in_shift = before * element_bytes;
  if (out_is_block) decision.out_shift = before * element_bytes;
}

}  // namespace

Status validate_counts(const Call& call, Rank size) {
  const auto n = static_cast<std::uint64_t>(size);
  constexpr std::uint64_t kElementsMax = std::numeric_limits<std::uint64_t>::max() >> 17;  // of up to 64 KiB each
  if (call.counts.empty()) {
    if (call.count <= kElementsMax / n) [[likely]]
      return {};
    return invalid_argument(fmt::format("a count of {} is more than any memory holds", call.count));
  }
  const bool has_form = plan::has_variable_form(call.collective);
  const std::uint64_t wanted = !has_form ? 0 : call.collective == Collective::all_to_all ? n * n : n;
  if (call.counts.size() != wanted) {
    return invalid_argument(fmt::format("{} over {} ranks takes {} counts, not {}", plan::name_of(call.collective),
                                        size, wanted, call.counts.size()));
  }
  std::uint64_t all = 0;
  for (const std::uint64_t count : call.counts) {
    if (count > kElementsMax - all) return invalid_argument("the counts add up to more than any memory holds");
    all += count;
  }
  return {};
}

namespace {

// Of a rank's own blocks and of everybody's.
struct BlockSizes {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t all = 0;
};

BlockSizes block_sizes(const Call& call, Rank rank, Rank size) {
  const auto n = static_cast<std::uint64_t>(size);
  const auto me = static_cast<std::uint64_t>(rank);
  const bool pairs = call.collective == Collective::all_to_all;
  if (call.counts.empty()) {
    const std::uint64_t all = call.count * n;
    return {pairs ? all : call.count, pairs ? all : call.count, all};
  }
  BlockSizes sizes;
  for (std::uint64_t i = 0; i < call.counts.size(); ++i) {
    sizes.all += call.counts[i];
    if (pairs ? i / n == me : i == me) sizes.in += call.counts[i];
    if (pairs ? i % n == me : i == me) sizes.out += call.counts[i];
  }
  return sizes;
}

}  // namespace

BufferSizes buffer_sizes(const Call& call, Rank rank, Rank size) {
  const BlockSizes own = block_sizes(call, rank, size);
  const bool is_root = rank == call.root;
  switch (call.collective) {
    case Collective::all_reduce:
    case Collective::all_to_all: return {own.in, own.out};
    case Collective::all_gather: return {own.in, own.all};
    case Collective::reduce_scatter: return {own.all, own.out};
    case Collective::broadcast: return {is_root ? own.in : 0, own.out};
    case Collective::reduce: return {own.in, is_root ? own.out : 0};
    case Collective::gather: return {own.in, is_root ? own.all : 0};
    case Collective::scatter: return {is_root ? own.all : 0, own.out};
    case Collective::send_receive: return {is_root ? own.in : 0, rank == call.peer ? own.out : 0};
    case Collective::barrier: break;
  }
  return {};
}

namespace {

// What the plan of the decision's `preferred` rests on, and whose word on it counts.
void set_facts(Decision& decision, const DecisionContext& context, const planner::Candidate& best, bool runs_anywhere) {
  decision.needed = decision.preferred->prepared->reached;
  plan::Shape in_place = best.shape;
  in_place.in_place = true;
  decision.preferred_runs_in_place = best.algorithm->fits(in_place);
  const auto self = static_cast<std::size_t>(context.self);
  for (std::size_t rank = 0; rank < decision.needed.size(); ++rank) {
    if (!context.hosts.empty() && context.hosts[rank] != context.hosts[self]) continue;
    if (runs_anywhere) decision.needed[rank] = 0;
    if (decision.needed[rank] != 0 || !decision.preferred_runs_in_place) {
      decision.asked.push_back(static_cast<Rank>(rank));
    }
  }
}

void set_indices(Decision& decision) {
  decision.fallback_index = watch::plan_index(decision.fallback->prepared->header.algorithm);
  if (!decision.preferred) return;
  decision.preferred_index = watch::plan_index(decision.preferred->prepared->header.algorithm);
}

// Between hosts both ways say the same, so that each host takes the one that its buffers allow.
Status decide_over_hosts(Decision& decision, const DecisionContext& context, const Call& call) {
  TUTTI_ASSIGN(const Choice always, choose(context, call, request_over_hosts(context, call), {Reach::stage, !kMapped}));
  decision.fallback = always.launch;
  const auto twin = planner::twin_of(always.candidate, Reach::full);
  if (!twin) return {};
  const auto launch = launch_of(context, call, *twin, kMapped);
  const bool is_alike = launch.is_ok() && (*launch)->tile_bytes == always.launch->tile_bytes;
  if (!is_alike) return {};
  decision.preferred = *launch;
  set_facts(decision, context, *twin, context.is_host_one_process);
  return {};
}

// Fails where what is allowed cannot run.
Result<Decision> decide_within(const DecisionContext& context, const Call& call) {
  Decision decision;
  decision.key = key_of(call);
  decision.fingerprint = decision.key.fingerprint();
  if (!context.hosts.empty()) {
    TUTTI_TRY(decide_over_hosts(decision, context, call));
    set_indices(decision);
    return decision;
  }
  // Whether a rank works in place is its own affair, so what always runs must run in place.
  auto always = choose(context, call, request_of(call, true), least_access(context));
  const bool needs_more = !always && is_restricted(context, call.collective);
  if (needs_more) {  // what is allowed runs only where buffers can be reached: otherwise the planner decides
    const DecisionContext planned = unrestricted(context);
    always = choose(planned, call, request_of(call, true), least_access(planned));
  }
  if (!always) return always.status();
  decision.fallback = always->launch;
  const planner::Candidate* rival = needs_more ? nullptr : &always->candidate;
  const auto apart = choose(context, call, request_of(call, false), {Reach::full, kMapped}, rival);
  if (needs_more && !apart) return apart.status();
  if (apart) {
    const planner::Candidate& best = apart->candidate;
    const bool runs_anywhere = context.is_one_process || is_best_anywhere(context, call, best, always->candidate);
    decision.preferred = apart->launch;
    if (runs_anywhere) {
      TUTTI_ASSIGN(decision.preferred, launch_of(context, call, best, context.is_one_process));
    }
    set_facts(decision, context, best, runs_anywhere);
  }
  set_indices(decision);
  const bool has_choice = decision.preferred != nullptr;
  decision.is_flash = !has_choice && context.machine.flash_bytes > 0 && engine::can_flash(*decision.fallback);
  return decision;
}

}  // namespace

Result<Decision> decide(const DecisionContext& context, const Call& call) {
  auto decision = decide_within(context, call);
  // A name that a program gave must run. A wish for the whole job is not worth ending it.
  const bool may_go_beyond = context.algorithm.empty() && find_allowed(context, call.collective) != nullptr;
  if (decision || !may_go_beyond || decision.status().code() != Code::unsupported) return decision;
  auto beyond = decide_within(unrestricted(context), call);
  if (beyond) beyond->is_beyond_allowed = true;
  return beyond;
}

std::string explain(const DecisionContext& given, const Call& call) {
  const auto decision = decide(given, call);
  if (!decision) return std::string(decision.status().text());
  const DecisionContext context = decision->is_beyond_allowed ? unrestricted(given) : given;
  std::string text = describe(call) + "\n";
  if (find_allowed(given, call.collective) != nullptr) {
    text += fmt::format("{} {}\n", restriction_text(given, call.collective),
                        decision->is_beyond_allowed ? "cannot run here, so anything may" : "may run");
  }
  if (!context.hosts.empty()) {
    const planner::Request request = request_over_hosts(context, call);
    const auto ranked = candidates_of(context, request, {Reach::stage, !kMapped});
    text += planner::explain_hosts(cluster_of(context), request, *ranked);
    if (const auto type = wire_type_of(context, call)) {
      text += fmt::format("\n  values travel between hosts as {} (TUTTI_COMPRESS): sums are not exact", name_of(*type));
    }
    if (decision->preferred) {
      text +=
          fmt::format("\n  inside a host: {} where buffers come from tutti::allocate, {} otherwise",
                      decision->preferred->prepared->header.algorithm, decision->fallback->prepared->header.algorithm);
    }
    return text;
  }
  if (decision->preferred) {
    const planner::Request apart = request_of(call, false);
    const auto ranked = candidates_of(context, apart, {Reach::full, kMapped});
    text += context.is_one_process ? "out of place: " : "buffers from tutti::allocate: ";
    text += planner::explain_local(context.machine, apart, *ranked) + "\notherwise: ";
  }
  const planner::Request request = request_of(call, true);
  auto always = candidates_of(context, request, least_access(context));
  if (!always) {  // what is allowed needs reach
    const DecisionContext planned = unrestricted(context);
    always = candidates_of(planned, request, least_access(planned));
  }
  text += planner::explain_local(context.machine, request, *always);
  if (decision->is_flash) text += "\n  data travels in the cache lines that signal it";
  text += fmt::format("\n  instructions: {}", engine::instruction_set());
  return text;
}

const Decision* DecisionCache::find_slowly(const CallKey& key) const {
  const auto found = decisions_.find(key);
  if (found == decisions_.end()) return nullptr;
  last_ = found->second.get();
  return last_;
}

// By one rank for all: they decide alike.
void DecisionCache::warn_once(const DecisionContext& context, const Call& call) {
  if (has_warned_ || context.self != 0) return;
  has_warned_ = true;
  log::write(LogLevel::warning, context.self, [&] {
    return fmt::format("{} cannot run {} over {} ranks here; the planner chooses freely for it",
                       restriction_text(context, call.collective), plan::name_of(call.collective),
                       context.machine.ranks);
  });
}

void DecisionCache::clear() {
  decisions_.clear();
  last_ = nullptr;
  bytes_ = 0;
}

namespace {

std::size_t bytes_of(const Decision& decision) {
  // With its place in the table: a key, a pointer, and what nodes of tables have beside.
  std::size_t bytes = sizeof(Decision) + sizeof(CallKey) + 4 * sizeof(void*) +
                      decision.asked.capacity() * sizeof(Rank) + decision.needed.capacity() * sizeof(std::uint32_t);
  for (const auto& launch : {decision.preferred, decision.fallback}) {
    if (launch) bytes += engine::bytes_of(*launch);
  }
  return bytes;
}

}  // namespace

// Under a limit, what older calls have left goes before a new one fails.
Status DecisionCache::make_room(const DecisionContext& context, const Decision& decision, engine::Workspace& workspace,
                                std::size_t taken_bytes) {
  if (context.private_bytes_max == 0) return {};
  const std::size_t own = bytes_of(decision);
  const Rank flash_ranks = decision.is_flash ? context.machine.ranks : 0;
  const auto needed = [&] {
    std::size_t most = workspace.bytes();
    for (const auto& launch : {decision.preferred, decision.fallback}) {
      // Both may need all of their room: what one grows the other finds.
      if (launch) most += workspace.bytes_with(*launch, flash_ranks) - workspace.bytes();
    }
    return taken_bytes + bytes_ + own + most;
  };
  if (needed() > context.private_bytes_max) clear();
  if (needed() > context.private_bytes_max) workspace = engine::Workspace();
  if (needed() <= context.private_bytes_max) return {};
  return {Code::out_of_memory,
          fmt::format("a call needs {} bytes for its plan and its scratch space, and the memory limit of {} bytes of "
                      "the communicator leaves {}; raise the limit (TUTTI_MEMORY_LIMIT, or what the program says)",
                      needed(), context.memory_limit_bytes, context.private_bytes_max)};
}

Result<const Decision*> DecisionCache::add(const DecisionContext& context, const Call& call,
                                           engine::Workspace& workspace, std::size_t taken_bytes) {
  auto decided = decide(context, call);
  if (!decided && context.memory_limit_bytes != 0)
    return decided.status().while_doing(
        fmt::format("keeping to the memory limit of {} bytes", context.memory_limit_bytes));
  TUTTI_ASSIGN(Decision made, std::move(decided));
  if (made.is_beyond_allowed) warn_once(context, call);
  const BufferSizes sizes = buffer_sizes(call, context.self, context.machine.ranks);
  const std::uint64_t element = made.fallback->elements.bytes;
  made.in_bytes = sizes.in_elements * element;
  made.out_bytes = sizes.out_elements * element;
  set_shifts(made, call, context.self, element);
  if (decisions_.size() >= kLimit) clear();
  TUTTI_TRY(make_room(context, made, workspace, taken_bytes));
  for (const auto& launch : {made.preferred, made.fallback}) {
    if (launch) workspace.reserve(*launch, made.is_flash ? context.machine.ranks : 0);
  }
  auto decision = std::make_unique<Decision>(std::move(made));
  bytes_ += bytes_of(*decision);
  last_ = decision.get();
  decisions_[last_->key] = std::move(decision);
  return last_;
}

double estimate_s(const DecisionContext& context, const Call& call) {
  const auto ranked = context.hosts.empty()
                          ? candidates_of(context, request_of(call, true), least_access(context))
                          : candidates_of(context, request_over_hosts(context, call), {Reach::stage, !kMapped});
  return !ranked || ranked->empty() ? 0 : ranked->front().estimate_s;
}

}  // namespace tutti::comm
