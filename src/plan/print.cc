// The text form of a plan. Its grammar is in docs/guide/plans.md.
#include <fmt/format.h>

#include <iterator>
#include <map>

#include "base/text.h"
#include "tutti/plan.h"

namespace tutti::plan {

namespace {

using Writer = std::back_insert_iterator<std::string>;

void print_ranks(Writer out, std::span<const Rank> ranks) {
  for (const Rank rank : ranks) fmt::format_to(out, " {}", rank);
}

// The level is named where it is less than full.
std::string reach_text(Reach reach, const std::vector<std::uint32_t>& domain_of) {
  std::map<std::uint32_t, std::vector<Rank>> members;
  for (std::size_t rank = 0; rank < domain_of.size(); ++rank)
    members[domain_of[rank]].push_back(static_cast<Rank>(rank));
  std::string text = reach == Reach::full ? "" : fmt::format("{}:", name_of(reach));
  const char* between = "";
  for (const auto& [domain, ranks] : members) {
    text += between + text::list_text(ranks);
    between = "|";
  }
  return text;
}

void print_header(Writer out, const Plan& plan) {
  fmt::format_to(out, "plan {} {} ranks={} chunks={} slots={}", plan.algorithm, name_of(plan.collective), plan.ranks,
                 plan.chunks, plan.slots);
  if (has_root(plan.collective)) fmt::format_to(out, " root={}", plan.root);
  if (plan.collective == Collective::send_receive) fmt::format_to(out, " peer={}", plan.peer);
  if (!plan.domain_of.empty()) fmt::format_to(out, " reach={}", reach_text(plan.reach, plan.domain_of));
  fmt::format_to(out, "\n");
}

void print_value(Writer out, const Lane& lane, const Step& step, Rank self) {
  const char* between = "";
  if (step.receive_from != kNoRank) {
    fmt::format_to(out, "recv {}", step.receive_from);
    between = " + ";
  }
  for (const Slice& source : lane.sources(step)) {
    fmt::format_to(out, "{}{}", between, print(source, self));
    between = " + ";
  }
  if (step.finish) fmt::format_to(out, " finish");
  between = " -> ";
  for (const Slice& target : lane.targets(step)) {
    fmt::format_to(out, "{}{}", between, print(target, self));
    between = " ";
  }
  if (step.send_to != kNoRank) fmt::format_to(out, " -> send {}", step.send_to);
}

}  // namespace

std::string print(const Slice& slice, Rank self) {
  std::string text;
  if (slice.owner != self) text += fmt::format("{}:", slice.owner);
  if (slice.count == 1 && slice.stride == 1) return text + fmt::format("{}[{}]", name_of(slice.buffer), slice.chunk);
  const std::uint64_t end = slice.chunk + std::uint64_t{slice.count} * slice.stride;
  text += fmt::format("{}[{}:{}", name_of(slice.buffer), slice.chunk, end);
  if (slice.stride != 1) text += fmt::format(":{}", slice.stride);
  return text + "]";
}

std::string print_step(const Lane& lane, std::size_t index, Rank self) {
  const Step& step = lane[index];
  std::string text;
  Writer out(text);
  const char* between = "";
  if (step.after_count > 0) {
    fmt::format_to(out, "after");
    for (const Point& point : lane.after(step)) fmt::format_to(out, " {}.{}", point.lane, point.step);
    between = "; ";
  }
  if (step.wait_count > 0) {
    fmt::format_to(out, "{}token <-", between);
    print_ranks(out, lane.waits(step));
    between = "; ";
  }
  if (step.has_value()) {
    fmt::format_to(out, "{}", between);
    print_value(out, lane, step, self);
    between = "; ";
  }
  if (step.signal_count > 0) {
    fmt::format_to(out, "{}token ->", between);
    print_ranks(out, lane.signals(step));
  }
  return text;
}

std::string print(const Plan& plan) {
  std::string text;
  Writer out(text);
  print_header(out, plan);
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    const Program& program = plan.programs[rank];
    for (std::size_t lane = 0; lane < program.lanes.size(); ++lane) {
      fmt::format_to(out, "rank {} lane {}\n", rank, lane);
      for (std::size_t step = 0; step < program.lanes[lane].size(); ++step) {
        fmt::format_to(out, "  {}  {}\n", step, print_step(program.lanes[lane], step, static_cast<Rank>(rank)));
      }
    }
  }
  return text;
}

}  // namespace tutti::plan
