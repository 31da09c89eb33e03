// Communicators over hosts against the definition of each collective. Sums of floats that depend on the order are in
// reference_test.cc.
#include <gtest/gtest.h>

#include "tests/conformance/scenario.h"
#include "tests/network/job.h"

namespace tutti::network {
namespace {

using conformance::Memories;
using conformance::play;
using conformance::play_many;
using conformance::Scenario;
using plan::Collective;

constexpr std::uint64_t kBytesMax = 3 << 20;

// Uneven, and not always block by block.
const std::vector<std::vector<int>> kPlaces = {{0, 1},          {0, 0, 1},       {0, 1, 1, 1},   {0, 1, 0, 1},
                                               {0, 0, 1, 2, 2}, {2, 0, 1, 0, 2}, {0, 1, 1, 0, 1}};

int host_count(const std::vector<int>& hosts) { return 1 + *std::max_element(hosts.begin(), hosts.end()); }

class Conformance : public OnHosts, public testing::WithParamInterface<std::size_t> {
 protected:
  std::vector<int> hosts() const { return kPlaces[GetParam()]; }
  void expect(const Job::Work& work, const JobOptions& options = {}) {
    const Lab lab = create({.host_count = host_count(hosts())});
    Job job(lab, hosts(), work, options);
    job.expect_success(std::chrono::seconds(runs_all() ? 400 : 60));
  }
};

TEST_P(Conformance, EveryCollectiveGivesWhatItPromises) {
  expect(
      [&](Communicator& communicator) {
        return play_many(communicator, runs_all() ? 1500 : 120, kBytesMax, 500 + GetParam());
      },
      {.seconds_max = 500});
}

// Every collective, root and kind of memory, with no elements, one, an odd number and several tiles of them.
TEST_P(Conformance, EveryRootAndSizeGivesWhatItPromises) {
  expect([](Communicator& communicator) -> std::string {
    std::uint64_t seed = 1;
    for (const Collective collective : plan::kCollectives) {
      const bool is_rooted = plan::has_root(collective) || collective == Collective::send_receive;
      for (Rank root = 0; root < (is_rooted ? communicator.size() : 1); ++root) {
        for (const std::uint64_t count : {0, 1, 1013, 300'007}) {
          if (count > 100'000 && root > 1 && !runs_all()) continue;
          Scenario scenario{.collective = collective, .count = count, .root = root};
          scenario.peer = (root + 1) % communicator.size();
          scenario.seed = ++seed;
          scenario.memories = static_cast<Memories>(seed % 3);
          if (std::string failure = play(communicator, scenario); !failure.empty()) return failure;
          if (!plan::has_variable_form(collective)) continue;
          const auto n = static_cast<std::size_t>(communicator.size());
          scenario.counts.resize(collective == Collective::all_to_all ? n * n : n);
          for (std::size_t i = 0; i < scenario.counts.size(); ++i)
            scenario.counts[i] = i % 3 == 1 ? 0 : count / (i + 1);
          if (std::string failure = play(communicator, scenario); !failure.empty()) return failure;
        }
      }
    }
    return {};
  });
}

TEST_P(Conformance, EveryTypeAndOperationGivesWhatItPromises) {
  if (!runs_all() && GetParam() != 1 && GetParam() != 5) GTEST_SKIP() << "of these places with --all only";
  expect([](Communicator& communicator) -> std::string {
    std::uint64_t seed = 100;
    for (const DataType type : kDataTypes) {
      for (const Op op : kOps) {
        for (const Collective collective : {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter}) {
          for (const std::uint64_t count : {7, 20'011}) {
            Scenario scenario{.collective = collective, .count = count, .counts = {}, .type = type, .op = op};
            scenario.root = static_cast<Rank>(seed % static_cast<std::uint64_t>(communicator.size()));
            scenario.seed = ++seed;
            scenario.memories = static_cast<Memories>(seed % 3);
            if (std::string failure = play(communicator, scenario); !failure.empty()) return failure;
          }
        }
      }
    }
    return {};
  });
}

INSTANTIATE_TEST_SUITE_P(Places, Conformance, testing::Range(std::size_t{0}, kPlaces.size()), [](const auto& place) {
  std::string name;
  for (const int host : kPlaces[place.param]) name += std::to_string(host);
  return name;
});

class Calls : public OnHosts {
 protected:
  // Two hosts of two and three ranks, in turns.
  void expect(const Job::Work& work) {
    const Lab lab = create();
    Job job(lab, {0, 1, 1, 0, 1}, work);
    job.expect_success();
  }
};

struct Pair {
  std::int64_t first;
  std::int64_t second;
};

void add_pairs(void* value, const void* operand, std::size_t count, void*) {
  for (std::size_t at = 0; at < count * sizeof(Pair); at += sizeof(Pair)) {
    Pair sum;
    Pair next;
    std::memcpy(&sum, static_cast<const std::byte*>(value) + at, sizeof(Pair));
    std::memcpy(&next, static_cast<const std::byte*>(operand) + at, sizeof(Pair));
    sum = {sum.first + next.first, sum.second + next.second};
    std::memcpy(static_cast<std::byte*>(value) + at, &sum, sizeof(Pair));
  }
}

TEST_F(Calls, CustomOperationsCombineAllRanks) {
  expect([](Communicator& communicator) -> std::string {
    const CustomOperation pairs{.name = "pairs", .element_bytes = sizeof(Pair), .combine = &add_pairs};
    for (const std::size_t count : {1, 500, 100'001}) {
      const std::vector<Pair> in(count, Pair{communicator.rank(), 2 * communicator.rank()});
      std::vector<Pair> out(count);
      const Status status = communicator.run({.in = in.data(), .out = out.data(), .count = count, .reduction = pairs});
      if (!status) return spoken(status);
      for (const Pair& sum : out) {
        if (sum.first != 10 || sum.second != 20) return fmt::format("{} and {}", sum.first, sum.second);
      }
    }
    return {};
  });
}

TEST_F(Calls, GroupsLetAllSendToAllAtOnce) {
  expect([](Communicator& communicator) -> std::string {
    const auto n = static_cast<std::size_t>(communicator.size());
    for (const std::size_t count : {1, 1000, 400'000}) {
      std::vector<std::vector<std::int32_t>> out(n, std::vector<std::int32_t>(count, communicator.rank()));
      std::vector<std::vector<std::int32_t>> in(n, std::vector<std::int32_t>(count, -1));
      Group group;
      for (std::size_t rank = 0; rank < n; ++rank) {
        group.send(communicator, std::span<const std::int32_t>(out[rank]), static_cast<Rank>(rank));
      }
      for (std::size_t rank = n; rank-- > 0;) {
        group.receive(communicator, std::span(in[rank]), static_cast<Rank>(rank));
      }
      if (const Status status = group.run(); !status) return spoken(status);
      for (std::size_t rank = 0; rank < n; ++rank) {
        if (in[rank] != std::vector<std::int32_t>(count, static_cast<Rank>(rank))) return "another message";
      }
    }
    return {};
  });
}

TEST_F(Calls, StreamsRunThemInOrderWhileTheCallerDoesOthers) {
  expect([](Communicator& communicator) -> std::string {
    constexpr int kCalls = 30;
    std::vector<std::vector<std::int64_t>> data(kCalls, std::vector<std::int64_t>(3000, 1));
    auto stream = Stream::create();
    if (!stream) return spoken(stream.status());
    auto part = communicator.split(0);
    if (!part) return spoken(part.status());
    for (auto& each : data) {
      const Call call{.in = each.data(), .out = each.data(), .count = each.size(), .type = DataType::int64};
      communicator.submit(call, *stream);
    }
    if (std::string failure = play_many(**part, 30, 1 << 16, 700); !failure.empty()) return failure;
    if (const Status status = stream->synchronize(std::chrono::seconds(30)); !status) return spoken(status);
    for (const auto& each : data) {
      if (each != std::vector<std::int64_t>(3000, communicator.size())) return "wrong sums";
    }
    return communicator.health() ? "" : "it has ended";
  });
}

// Colours: by host, across hosts, one rank of each; a part of a part; and what is left when the whole has gone.
TEST_F(Calls, PartsOfACommunicatorWorkInsideHostsAndAcross) {
  const Lab lab = create();
  const std::vector<int> hosts = {0, 1, 1, 0, 1};
  Job job(lab, hosts, {}, [&](Rank rank, const Letter& letter) -> std::string {
    auto whole = Job::meet(rank, 5, letter);
    if (!whole) return spoken(whole.status());
    auto inside = whole->split(hosts[static_cast<std::size_t>(rank)], -rank);
    auto across = whole->split(rank == 4 ? Communicator::kNoColor : rank % 2, 0);
    if (!inside || !across) return "no parts: " + spoken(inside ? across.status() : inside.status());
    if ((*inside)->size() != (hosts[static_cast<std::size_t>(rank)] == 0 ? 2 : 3)) return "the size of a host";
    if (across->has_value() != (rank != 4)) return "who gets a part";
    if (std::string failure = play_many(**inside, 30, 1 << 18, 701); !failure.empty()) return failure;
    if (*across) {
      if (std::string failure = play_many(**across, 30, 1 << 18, 702); !failure.empty()) return failure;
    }
    auto again = (*inside)->split((*inside)->rank() % 2);
    if (!again || !*again) return "a part of a part";
    if (std::string failure = play_many(**again, 10, 1 << 16, 703); !failure.empty()) return failure;
    auto all = whole->split(3, rank);
    if (!all || !*all) return "a part of all";
    whole = Status(Code::aborted, "destroyed");
    return play_many(**all, 30, 1 << 18, 704);
  });
  job.expect_success();
}

}  // namespace
}  // namespace tutti::network
