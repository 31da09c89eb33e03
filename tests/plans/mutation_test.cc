// Breaks correct plans in tens of thousands of ways and asks two independent judges: the checker, which sees the plan,
// and the interpreter, which runs it under many schedules. They must agree: what does harm is rejected, what does none
// is accepted.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/random.h"
#include "plan/interpret/interpreter.h"
#include "plan/loose_step.h"
#include "plan/validate.h"
#include "tests/plans/expected.h"
#include "tests/plans/seed.h"
#include "tutti/prove.h"

namespace tutti::plan {
namespace {

#ifdef TUTTI_HAS_SANITIZER
constexpr int kMutants = 1500;
#else
constexpr int kMutants = 40000;
#endif

constexpr int kEnoughForEveryKind = 40000;  // the rarest kind is a few in a thousand

using LoosePlan = std::vector<std::vector<std::vector<LooseStep>>>;  // rank, lane, step

LoosePlan take_apart(const Plan& plan) {
  LoosePlan loose;
  for (const Program& program : plan.programs) {
    auto& lanes = loose.emplace_back();
    for (const Lane& lane : program.lanes) {
      auto& steps = lanes.emplace_back();
      for (std::size_t i = 0; i < lane.size(); ++i) steps.push_back(loose_step(lane, lane[i]));
    }
  }
  return loose;
}

Plan put_together(const Plan& header, const LoosePlan& loose) {
  Plan plan = header;
  for (std::size_t rank = 0; rank < loose.size(); ++rank) {
    plan.programs[rank].lanes.assign(loose[rank].size(), {});
    for (std::size_t lane = 0; lane < loose[rank].size(); ++lane) {
      for (const LooseStep& step : loose[rank][lane]) append(plan.programs[rank].lanes[lane], step);
    }
  }
  return plan;
}

template <class T>
void drop_or_add(std::vector<T>& list, T value, Random& random) {
  if (!list.empty() && random.below(2) == 0) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(random.below(list.size())));
  } else {
    list.push_back(value);
  }
}

void mutate_slice(Slice& slice, const Plan& plan, Random& random) {
  switch (random.below(3)) {
    case 0: slice.chunk = static_cast<std::uint32_t>(random.below(plan.chunks)); break;
    case 1: slice.buffer = kBuffers[random.below(kBuffers.size())]; break;
    default: slice.owner = static_cast<Rank>(random.below(static_cast<std::uint64_t>(plan.ranks)));
  }
}

// Drops a token at both ends: nothing blocks, but what it ordered is ordered no more.
void drop_token(LoosePlan& loose, std::size_t from, std::size_t lane, LooseStep& step, Random& random) {
  if (step.signals.empty()) return;
  const auto at = static_cast<std::ptrdiff_t>(random.below(step.signals.size()));
  const auto to = static_cast<std::size_t>(step.signals[static_cast<std::size_t>(at)]);
  if (lane >= loose[to].size()) return;
  for (LooseStep& other : loose[to][lane]) {
    const auto wait = std::find(other.waits.begin(), other.waits.end(), static_cast<Rank>(from));
    if (wait == other.waits.end()) continue;
    other.waits.erase(wait);
    step.signals.erase(step.signals.begin() + at);
    return;
  }
}

// One random change; what it is called comes back.
std::string mutate(Plan& plan, Random& random) {
  LoosePlan loose = take_apart(plan);
  const std::size_t rank = random.below(loose.size());
  auto& lanes = loose[rank];
  if (lanes.empty()) return "";
  const std::size_t lane_index = random.below(lanes.size());
  auto& steps = lanes[lane_index];
  if (steps.empty()) return "";
  const auto at = static_cast<std::ptrdiff_t>(random.below(steps.size()));
  LooseStep& step = steps[static_cast<std::size_t>(at)];
  const auto any_rank = static_cast<Rank>(random.below(static_cast<std::uint64_t>(plan.ranks)));
  std::string name;
  switch (random.below(15)) {
    case 0:
      steps.erase(steps.begin() + at);
      name = "drop step";
      break;
    case 1:
      steps.insert(steps.begin() + at, LooseStep(step));
      name = "repeat step";
      break;
    case 2:
      if (at + 1 < static_cast<std::ptrdiff_t>(steps.size())) std::swap(step, steps[static_cast<std::size_t>(at) + 1]);
      name = "swap steps";
      break;
    case 3:
      step.receive_from = random.below(3) == 0 ? kNoRank : any_rank;
      name = "receive elsewhere";
      break;
    case 4:
      step.send_to = random.below(3) == 0 ? kNoRank : any_rank;
      name = "send elsewhere";
      break;
    case 5:
      if (!step.sources.empty()) mutate_slice(step.sources[random.below(step.sources.size())], plan, random);
      name = "other source";
      break;
    case 6:
      if (!step.targets.empty()) mutate_slice(step.targets[random.below(step.targets.size())], plan, random);
      name = "other target";
      break;
    case 7:
      if (!step.sources.empty()) drop_or_add(step.sources, Slice(step.sources[0]), random);
      name = "sources";
      break;
    case 8:
      if (!step.targets.empty()) drop_or_add(step.targets, Slice(step.targets[0]), random);
      name = "targets";
      break;
    case 9:
      drop_or_add(step.waits, any_rank, random);
      name = "waits";
      break;
    case 10:
      drop_or_add(step.signals, any_rank, random);
      name = "signals";
      break;
    case 11:
      step.finish = !step.finish;
      name = "finish";
      break;
    case 12:
      plan.slots = 1;
      name = "one slot";
      break;
    case 13:
      drop_token(loose, rank, lane_index, step, random);
      name = "drop token";
      break;
    default: {
      const Point point{static_cast<std::uint32_t>(random.below(lanes.size())),
                        static_cast<std::uint32_t>(random.below(steps.size()))};
      drop_or_add(step.after, point, random);
      name = "after";
    }
  }
  plan = put_together(plan, loose);
  return name;
}

// Runs the plan under one schedule; what is seen to go wrong comes back.
std::string witness_once(const Plan& plan, const std::vector<ChunkMap>& maps, Memories& inputs, bool in_place,
                         const Schedule& schedule) {
  Memories results = inputs;
  const InterpretOptions options{
      .type = DataType::int64, .op = Op::average, .factors = {}, .seed = 0, .tile_elements = 0, .in_place = in_place};
  const Status status = Interpreter(plan, maps, options, results, schedule).run();
  if (!status) return std::string(status.text());
  return first_difference(plan, maps, inputs, in_place, results);
}

// Many schedules: random ones within the plan's slots, and ones with endless slots in which a step or a rank is held
// up.
std::string witness(const Plan& plan, bool in_place, int rounds) {
  const auto maps = odd_maps(plan, in_place);
  Memories inputs = numbered_inputs(plan, maps, in_place);
  constexpr std::uint32_t kEndless = 1 << 20;
  for (int round = 0; round < rounds; ++round) {
    const auto seed = static_cast<std::uint64_t>(round) * 977 + 5;
    if (auto harm = witness_once(plan, maps, inputs, in_place, {.seed = seed}); !harm.empty()) return harm;
    for (Rank rank = 0; rank < plan.ranks; ++rank) {
      const Schedule late{.seed = seed, .slots = kEndless, .held_step = {}, .late_rank = rank};
      if (auto harm = witness_once(plan, maps, inputs, in_place, late); !harm.empty()) return harm;
      const auto& lanes = plan.programs[static_cast<std::size_t>(rank)].lanes;
      for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
        for (std::uint32_t step = 0; step < lanes[lane].size(); ++step) {
          const Schedule held{
              .seed = seed + step, .slots = kEndless, .held_step = std::tuple(rank, lane, step), .late_rank = {}};
          if (auto harm = witness_once(plan, maps, inputs, in_place, held); !harm.empty()) return harm;
        }
      }
    }
  }
  return {};
}

std::vector<Case> cases_to_break() {
  std::vector<Case> cases;
  for (const Rank ranks : {2, 3, 4}) {
    for (const std::uint32_t lanes : {1u, 2u}) {
      for_each_case(ranks, lanes, [&](const Case& proof) {
        const auto plan = build(*proof.algorithm, proof.shape);
        constexpr std::size_t kStepsMax = 48;
        if (plan->step_count() > 0 && plan->step_count() <= kStepsMax) cases.push_back(proof);
        return true;
      });
    }
  }
  return cases;
}

bool stores_to_others_stage(const Plan& plan) {
  for (Rank rank = 0; rank < plan.ranks; ++rank) {
    for (const Lane& lane : plan.programs[static_cast<std::size_t>(rank)].lanes) {
      for (std::size_t i = 0; i < lane.size(); ++i) {
        for (const Slice& target : lane.targets(lane[i])) {
          if (target.buffer == Buffer::stage && target.owner != rank) return true;
        }
      }
    }
  }
  return false;
}

TEST(Checker, AgreesWithTheInterpreterOnTensOfThousandsOfBrokenPlans) {
  // Two of three mutants come from plans that reach, one of them from a plan with stages: those can go wrong in more
  // ways, and are fewer.
  const auto cases = cases_to_break();
  std::vector<Case> reaching;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(reaching),
               [](const Case& c) { return c.shape.reach != Reach::none; });
  std::vector<Case> staging;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(staging),
               [](const Case& c) { return c.algorithm->uses_stage; });
  Random random(test_seed());
  int accepted = 0;
  int rejected = 0;
  int strangers = 0;  // that store to the stage of another rank, where the plan they come from does not
  std::map<std::string, int> kinds;
  std::map<std::string, int> staging_kinds;
  for (int i = 0; i < kMutants; ++i) {
    const auto& pool = i % 3 == 0 ? cases : i % 3 == 1 ? reaching : staging;
    const Case& origin = pool[random.below(pool.size())];
    Plan plan = *build(*origin.algorithm, origin.shape);
    const bool in_place = origin.shape.in_place;
    const std::string change = mutate(plan, random);
    const auto malformed = validate_structure(plan);
    if (change.empty() || malformed) continue;  // not a plan any more, as the first look says
    if (origin.algorithm->name != "echo" && stores_to_others_stage(plan)) ++strangers;
    const auto verdict = check(plan, {.in_place = in_place});
    const auto* fault = std::get_if<Fault>(&verdict);
    const std::string harm = witness(plan, in_place, fault == nullptr ? 1 : 6);
    (fault == nullptr ? accepted : rejected) += 1;
    if (fault != nullptr) ++kinds[std::string(name_of(fault->kind))];
    if (fault != nullptr && &pool == &staging) ++staging_kinds[std::string(name_of(fault->kind))];
    ASSERT_EQ(fault == nullptr, harm.empty())
        << "TUTTI_SEED=" << test_seed() << " mutant " << i << ": " << change << " of " << origin.text()
        << "\nchecker: " << (fault == nullptr ? "accepted" : fault->text())
        << "\ninterpreter: " << (harm.empty() ? "no harm seen" : harm) << "\n"
        << print(plan);
  }
  EXPECT_GT(accepted, kMutants / 100) << "harmless changes must occur";
  EXPECT_GT(rejected, kMutants / 4);
  for (const auto& [kind, count] : kinds) RecordProperty(kind, count);
  if (kMutants >= kEnoughForEveryKind) {
    for (const char* kind : {"deadlock", "race", "unread message", "wrong value", "lifetime", "out of bounds"}) {
      EXPECT_GT(kinds[kind], 0) << kind << " never occurred";
    }
    for (const char* kind : {"deadlock", "race", "unread message", "wrong value"}) {
      EXPECT_GT(staging_kinds[kind], 0) << kind << " never occurred in a plan with stages";
    }
    EXPECT_GT(strangers, 0) << "no mutant stored to the stage of another rank";
  }
  RecordProperty("accepted", accepted);
  RecordProperty("rejected", rejected);
}

}  // namespace
}  // namespace tutti::plan
