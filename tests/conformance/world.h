// Ranks that meet in ordinary memory: a channel, a workspace and a run each, driven from one thread or from several.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "engine/host/flash.h"
#include "engine/host/run.h"
#include "os/clock.h"
#include "tests/conformance/trial.h"
#include "transport/channel.h"

namespace tutti::conformance {

// How a rank gets at the buffers of others: as threads do, through a mapping of their heaps, or across processes,
// through the kernel (here its own).
enum class Sight { same_process, mapped, across };

class World {
 public:
  World(Rank ranks, std::size_t outbox_bytes, Sight sight)
      : sight_(sight), shape_{.members = ranks, .outbox_bytes = outbox_bytes, .has_flash = true} {
    std::vector<transport::Block> blocks;
    std::vector<transport::Member> members;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const std::size_t bytes = (shape_.bytes() + 4095) / 4096 * 4096;
      memories_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(4096, bytes)), &std::free);
      std::memset(memories_.back().get(), 0, bytes);
      blocks.emplace_back(shape_, memories_.back().get());
      members.push_back({.rank = rank,
                         .pid = static_cast<int>(getpid()),
                         .host = "here",
                         .is_same_process = sight == Sight::same_process,
                         .can_pull = true,
                         .heap = memories_.back().get(),  // offsets from anywhere do
                         .is_alive = [] { return true; }});
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      sides_.push_back(std::make_unique<Side>(transport::Channel(shape_, members, blocks, rank)));
    }
  }

  std::size_t size() const { return sides_.size(); }
  const transport::BlockShape& shape() const { return shape_; }
  Sight sight() const { return sight_; }

  // Whether the launches of a trial fit the outbox. Checks that all ranks see it the same way.
  bool add(Trial& trial, std::uint64_t seed) {
    Prepared prepared{.trial = &trial, .launches = {}};
    for (std::size_t rank = 0; rank < size(); ++rank) {
      auto made = engine::prepare(*trial.proof.algorithm, trial.proof.shape, static_cast<Rank>(rank));
      EXPECT_TRUE(made.is_ok()) << made.status().text();
      if (!made) return false;
      const engine::Elements elements{.type = trial.type,
                                      .op = plan::reduces(trial.plan.collective) ? trial.op : Op::sum,
                                      .bytes = static_cast<std::uint32_t>(size_of(trial.type))};
      auto launch =
          engine::create_launch(*std::move(made), trial.maps, elements, trial.options, static_cast<Rank>(rank));
      if (!launch) return false;
      sides_[rank]->workspace.reserve(*launch, static_cast<Rank>(size()));
      prepared.launches.push_back(*std::move(launch));
      const engine::Launch& first = prepared.launches.front();
      EXPECT_EQ(prepared.launches.back().tiles, first.tiles) << trial.text();
      EXPECT_EQ(prepared.launches.back().outbox.tile_bytes, first.outbox.tile_bytes) << trial.text();
      EXPECT_EQ(prepared.launches.back().outbox.lane_bytes, first.outbox.lane_bytes) << trial.text();
      EXPECT_EQ(engine::can_flash(prepared.launches.back()), engine::can_flash(first)) << trial.text();
    }
    const Status foreseen = trial.foresee(prepared.launches.front().tile_bytes, seed);
    EXPECT_TRUE(foreseen.is_ok()) << trial.text() << ": " << foreseen.text();
    calls_.push_back(std::move(prepared));
    return foreseen.is_ok();
  }

  // All calls that were added, on this thread: the seed draws which rank moves next. Empty, or what went wrong.
  std::string run(Random& random) {
    constexpr std::uint64_t kTriesMax = 1'000'000;
    std::uint64_t tries = 0;
    for (std::size_t left = size(); left > 0; ++tries) {
      const std::size_t rank = random.below(size());
      if (sides_[rank]->next == calls_.size()) continue;
      if (tries > kTriesMax) return "stuck: " + where();
      const std::string failure = advance(rank);
      if (!failure.empty()) return failure;
      if (sides_[rank]->next == calls_.size()) --left;
    }
    return conclude();
  }

  // The same with a thread for each rank.
  std::string run_in_threads(Deadline deadline) {
    std::vector<std::string> failures(size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      threads.emplace_back([this, rank, deadline, &failures] {
        while (sides_[rank]->next < calls_.size() && failures[rank].empty()) {
          failures[rank] = advance(rank);
          if (deadline.has_passed(os::now())) failures[rank] = fmt::format("rank {} is late", rank);
          std::this_thread::yield();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& failure : failures) {
      if (!failure.empty()) return failure;
    }
    return conclude();
  }

 private:
  struct Side {
    explicit Side(transport::Channel made) : channel(std::move(made)) {}
    transport::Channel channel;
    engine::Workspace workspace;
    std::size_t next = 0;
    std::variant<std::monostate, engine::Run, engine::Flash> work;
  };
  struct Prepared {
    Trial* trial;
    std::vector<engine::Launch> launches;
  };

  void enter(std::size_t rank) {
    Side& side = *sides_[rank];
    Prepared& call = calls_[side.next];
    Trial& trial = *call.trial;
    const auto fingerprint = static_cast<std::uint32_t>(side.next * 7919 & 0xfffffff);
    const double factor = trial.factors.empty() ? 1 : trial.factors[rank];
    const std::uint64_t base =
        sight_ == Sight::mapped ? reinterpret_cast<std::uintptr_t>(side.channel.peer(static_cast<Rank>(rank)).heap) : 0;
    const std::uint32_t facts = sight_ == Sight::mapped ? transport::Tag::kReachesIn | transport::Tag::kReachesOut : 0;
    side.channel.set_own_place({.in = trial.in_of(rank), .out = trial.out_of(rank), .factor = factor});
    side.channel.enter({.fingerprint = fingerprint,
                        .facts = facts,
                        .in = reinterpret_cast<std::uintptr_t>(trial.in_of(rank)) - base,
                        .out = reinterpret_cast<std::uintptr_t>(trial.out_of(rank)) - base,
                        .factor = factor});
    const engine::Launch& launch = call.launches[rank];
    if (trial.prefers_flash && engine::can_flash(call.launches.front())) {
      side.work.emplace<engine::Flash>(side.channel, side.workspace, launch, nullptr);
    } else {
      side.work.emplace<engine::Run>(side.channel, side.workspace, launch, nullptr);
    }
  }

  std::string advance(std::size_t rank) {
    Side& side = *sides_[rank];
    if (side.work.index() == 0) {
      enter(rank);
      return {};
    }
    const auto step = [](auto& work) { return std::pair(work.progress(), work.status()); };
    const auto [is_done, status] =
        side.work.index() == 1 ? step(std::get<engine::Run>(side.work)) : step(std::get<engine::Flash>(side.work));
    if (!status.is_ok()) return fmt::format("rank {}: {}", rank, status.text());
    if (!is_done) return {};
    side.work.emplace<std::monostate>();
    side.channel.leave();
    ++side.next;
    return {};
  }

  std::string where() {
    std::string text;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      if (sides_[rank]->next == calls_.size()) continue;
      text +=
          fmt::format("rank {} in call {}, {}; ", rank, sides_[rank]->next, calls_[sides_[rank]->next].trial->text());
    }
    return text;
  }

  std::string conclude() {
    std::string failure;
    for (Prepared& call : calls_) {
      if (failure = call.trial->first_difference(); !failure.empty()) {
        failure = call.trial->text() + ": " + failure;
        break;
      }
    }
    calls_.clear();
    for (auto& side : sides_) side->next = 0;
    return failure;
  }

  Sight sight_;
  transport::BlockShape shape_;
  std::vector<std::unique_ptr<std::byte, decltype(&std::free)>> memories_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::vector<Prepared> calls_;
};

}  // namespace tutti::conformance
