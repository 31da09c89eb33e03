// What communicators offer beside the collectives themselves: typed calls, custom operations, groups, streams, parts,
// ends, and what they tell of themselves. Ranks are threads.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "tests/conformance/party.h"
#include "tests/conformance/scenario.h"

namespace tutti::conformance {
namespace {

template <class T>
std::span<const T> given(const std::vector<T>& data) {
  return data;
}

std::string check(bool holds, std::string_view claim) {
  return holds ? std::string() : "not so: " + std::string(claim);
}

TEST(TypedCalls, CountElementsAsTheirSpansDo) {
  auto party = create_party(3);
  in_threads(party, [](Communicator& c) -> std::string {
    const auto rank = static_cast<std::uint64_t>(c.rank());
    std::vector<std::int32_t> block(rank + 1, c.rank());
    std::vector<std::int32_t> all(6);
    const std::uint64_t counts[] = {1, 2, 3};
    if (const Status s = c.all_gather_v<std::int32_t>(given(block), all, counts); !s) return text_of(s);
    if (all != std::vector<std::int32_t>{0, 1, 1, 2, 2, 2}) return "all_gather_v";
    std::vector<std::int32_t> part(rank + 1);
    if (const Status s = c.reduce_scatter_v<std::int32_t>(given(all), part, counts); !s) return text_of(s);
    if (part != std::vector<std::int32_t>(rank + 1, 3 * c.rank())) return "reduce_scatter_v";
    std::vector<std::int32_t> gathered(c.rank() == 2 ? 6 : 0);
    if (const Status s = c.gather_v<std::int32_t>(given(block), gathered, counts, 2); !s) return text_of(s);
    if (c.rank() == 2 && gathered != all) return "gather_v";
    std::vector<std::int32_t> scattered(rank + 1);
    if (const Status s = c.scatter_v<std::int32_t>(given(gathered), scattered, counts, 2); !s) return text_of(s);
    if (scattered != block) return "scatter_v";
    const std::uint64_t pairs[] = {0, 1, 2, 1, 0, 1, 2, 1, 0};
    std::vector<std::int32_t> out(3, -1);
    if (const Status s = c.all_to_all_v<std::int32_t>(given(all), out, pairs); !s) return text_of(s);
    return text_of(c.barrier());
  });
}

TEST(TypedCalls, RefuseSpansThatAreTooShort) {
  auto party = create_party(1);
  std::vector<float> in(3);
  std::vector<float> out(2);
  const Status status = party[0].all_reduce(given(in), std::span<float>(out));
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_NE(status.text().find("needs 3 elements of output"), std::string_view::npos) << status.text();
  EXPECT_TRUE(party[0].health().is_ok());
}

struct Best {
  float value;
  std::int32_t index;
};

void keep_best(void* value, const void* operand, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    Best mine;
    Best theirs;
    std::memcpy(&mine, static_cast<const std::byte*>(value) + i * sizeof(Best), sizeof(Best));
    std::memcpy(&theirs, static_cast<const std::byte*>(operand) + i * sizeof(Best), sizeof(Best));
    const bool is_better = theirs.value > mine.value || (theirs.value == mine.value && theirs.index < mine.index);
    if (is_better) std::memcpy(static_cast<std::byte*>(value) + i * sizeof(Best), &theirs, sizeof(Best));
  }
}

TEST(CustomOperations, ReduceElementsOfAnyKind) {
  const CustomOperation best{.name = "best", .element_bytes = sizeof(Best), .combine = &keep_best};
  for (const std::string algorithm : {"", "publish", "staged", "pull", "direct", "ring", "halving", "tree"}) {
    auto party = create_party(3, patient(algorithm));
    in_threads(party, [&](Communicator& c) -> std::string {
      for (const std::size_t count : {1, 9, 1000, 20001}) {
        std::vector<Best> data(count);
        for (std::size_t i = 0; i < count; ++i) {
          data[i] = {static_cast<float>((i + static_cast<std::size_t>(c.rank())) % 3), c.rank()};
        }
        const Call call{.in = data.data(), .out = data.data(), .count = count, .reduction = best};
        if (const Status s = c.run(call); !s) return text_of(s);
        for (std::size_t i = 0; i < count; ++i) {
          const auto winner = static_cast<std::int32_t>((5 - i % 3) % 3);
          if (data[i].value != 2 || data[i].index != winner) return fmt::format("{} element {}", algorithm, i);
        }
      }
      return {};
    });
  }
}

// x -> a * x + b, one after the other: the order of operands shows in the result.
struct Line {
  std::uint64_t a;
  std::uint64_t b;
};

void follow(void* value, const void* operand, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    Line first;
    Line then;
    std::memcpy(&first, static_cast<const std::byte*>(value) + i * sizeof(Line), sizeof(Line));
    std::memcpy(&then, static_cast<const std::byte*>(operand) + i * sizeof(Line), sizeof(Line));
    const Line both{first.a * then.a, then.a * first.b + then.b};
    std::memcpy(static_cast<std::byte*>(value) + i * sizeof(Line), &both, sizeof(Line));
  }
}

TEST(CustomOperations, AreAppliedInTheOrderOfRanksWhereAPlanLoadsAllAtOnce) {
  const CustomOperation lines{.name = "lines", .element_bytes = sizeof(Line), .combine = &follow};
  Line wanted{1, 0};
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    const Line next{rank + 2, rank + 1};
    follow(&wanted, &next, 1, nullptr);
  }
  for (const std::string algorithm : {"publish", "direct", "staged"}) {
    auto party = create_party(4, patient(algorithm));
    in_threads(party, [&](Communicator& c) -> std::string {
      const auto rank = static_cast<std::uint64_t>(c.rank());
      const std::vector<Line> in(500, Line{rank + 2, rank + 1});
      std::vector<Line> out(500);
      if (const Status s = c.run({.in = in.data(), .out = out.data(), .count = 500, .reduction = lines}); !s) {
        return text_of(s);
      }
      for (const Line& line : out) {
        if (line.a != wanted.a || line.b != wanted.b) return algorithm + ": another order";
      }
      return {};
    });
  }
}

TEST(Groups, LetRanksSendToAndReceiveFromEachOtherAndThemselves) {
  auto party = create_party(3);
  in_threads(party, [](Communicator& c) -> std::string {
    for (const std::size_t count : {1, 100, 300000}) {
      std::vector<std::vector<std::int32_t>> out(3, std::vector<std::int32_t>(count, c.rank()));
      std::vector<std::vector<std::int32_t>> in(3, std::vector<std::int32_t>(count, -1));
      Group group;
      for (Rank rank = 0; rank < 3; ++rank) group.send(c, given(out[static_cast<std::size_t>(rank)]), rank);
      for (Rank rank = 2; rank >= 0; --rank) {
        group.receive(c, std::span(in[static_cast<std::size_t>(rank)]), rank);
      }
      if (const Status s = group.run(); !s) return text_of(s);
      for (Rank rank = 0; rank < 3; ++rank) {
        if (in[static_cast<std::size_t>(rank)] != std::vector<std::int32_t>(count, rank)) return "another message";
      }
    }
    return {};
  });
}

TEST(Groups, SendAndReceiveEmptyMessagesThatHaveNoBuffers) {
  auto party = create_party(2);
  in_threads(party, [](Communicator& c) -> std::string {
    Group group;
    for (Rank rank = 0; rank < 2; ++rank) {
      group.send<float>(c, {}, rank);
      group.receive<float>(c, {}, rank);
    }
    return text_of(group.run());
  });
}

TEST(Groups, MayHaveCommunicatorsInAnyOrder) {
  auto first = create_party(3);
  auto second = create_party(3);
  in_threads(first, [&](Communicator& c) -> std::string {
    Communicator& other = second[static_cast<std::size_t>(c.rank())];
    for (const std::size_t count : {1, 5000, 200000}) {
      std::vector<std::int32_t> a(count, 1 + c.rank());
      std::vector<std::int32_t> b(count, 10 * (1 + c.rank()));
      const Call call_a{.in = a.data(), .out = a.data(), .count = count, .type = DataType::int32};
      const Call call_b{.in = b.data(), .out = b.data(), .count = count, .type = DataType::int32};
      Group group;
      if (c.rank() == 1) group.add(other, call_b);
      group.add(c, call_a);
      if (c.rank() != 1) group.add(other, call_b);
      if (const Status s = group.run(); !s) return text_of(s);
      if (a != std::vector<std::int32_t>(count, 6) || b != std::vector<std::int32_t>(count, 60)) return "wrong sums";
    }
    return {};
  });
}

TEST(Groups, WithOneInvalidCallRunNone) {
  auto party = create_party(1);
  float data[2] = {1, 2};
  Group group;
  group.add(party[0], {.in = data, .out = data, .count = 2});
  group.add(party[0], {.collective = Collective::broadcast, .in = data, .out = data, .count = 2, .root = 7});
  EXPECT_EQ(group.run().code(), Code::invalid_argument);
  EXPECT_TRUE(party[0].all_reduce(std::span<float>(data)).is_ok()) << "no turn was lost";
}

TEST(Streams, RunCallsInTheirOrderAndTellHowEachEnded) {
  auto party = create_party(2);
  in_threads(party, [](Communicator& c) -> std::string {
    auto stream = Stream::create();
    if (!stream) return text_of(stream.status());
    constexpr int kCalls = 50;
    std::vector<std::vector<std::int64_t>> data(kCalls, std::vector<std::int64_t>(1000, 1));
    std::vector<Work> works;
    for (auto& each : data) {
      const Call call{.in = each.data(), .out = each.data(), .count = each.size(), .type = DataType::int64};
      works.push_back(c.submit(call, *stream));
    }
    const Work refused = c.submit({.collective = Collective::broadcast, .count = 1, .root = 9}, *stream);
    if (refused.wait().code() != Code::invalid_argument) return "an invalid call was not refused";
    if (const Status s = works.back().wait(std::chrono::seconds(30)); !s) return text_of(s);
    for (const Work& work : works) {
      if (!work.is_done()) return "a call is not done though a later one is";
    }
    if (const Status s = stream->synchronize(std::chrono::seconds(30)); !s) return text_of(s);
    for (const auto& each : data) {
      if (each != std::vector<std::int64_t>(1000, 2)) return "wrong sums";
    }
    return {};
  });
}

TEST(Streams, FinishWhatWasSubmittedWhenTheyAndTheCommunicatorAreDestroyed) {
  auto party = create_party(2);
  std::vector<float> data[2] = {std::vector<float>(10000, 1), std::vector<float>(10000, 2)};
  {
    auto first = Stream::create();
    auto second = Stream::create();
    ASSERT_TRUE(first.is_ok() && second.is_ok());
    Stream* streams[] = {&*first, &*second};
    for (std::size_t rank = 0; rank < 2; ++rank) {
      party[rank].submit({.in = data[rank].data(), .out = data[rank].data(), .count = 10000}, *streams[rank]);
    }
    party.clear();
  }
  EXPECT_EQ(data[0], std::vector<float>(10000, 3));
  EXPECT_EQ(data[1], std::vector<float>(10000, 3));
}

TEST(Split, MakesAPartOfEveryColourOrderedByKey) {
  auto party = create_party(5);
  in_threads(party, [](Communicator& c) -> std::string {
    const int color = c.rank() == 4 ? Communicator::kNoColor : c.rank() % 2;
    auto part = c.split(color, -c.rank());
    if (!part) return text_of(part.status());
    if (part->has_value() != (c.rank() != 4)) return "who gets a part";
    if (!*part) return {};
    Communicator& mine = **part;
    if (mine.size() != 2 || mine.rank() != (c.rank() < 2 ? 1 : 0)) return fmt::format("rank {}", mine.rank());
    std::int32_t data[1] = {c.rank()};
    if (const Status s = mine.all_reduce(std::span<std::int32_t>(data)); !s) return text_of(s);
    if (data[0] != (c.rank() % 2 == 0 ? 2 : 4)) return "the sum of the other part";
    auto alone = mine.split(mine.rank());
    if (!alone || !*alone || (*alone)->size() != 1) return "a part of a part";
    return text_of((*alone)->all_reduce(std::span<std::int32_t>(data)));
  });
}

TEST(Split, PartsWorkAfterTheWholeHasGone) {
  auto party = create_party(3);
  std::vector<Communicator> parts;
  std::mutex mutex;
  in_threads(party, [&](Communicator& c) -> std::string {
    auto part = c.split(0, 0);
    if (!part) return text_of(part.status());
    const std::lock_guard lock(mutex);
    parts.push_back(**std::move(part));
    return {};
  });
  party.clear();
  in_threads(parts, [](Communicator& c) { return play_many(c, 20, 1 << 16, 300); });
}

TEST(Communicators, TakeCallsFromManyThreads) {
  auto party = create_party(2);
  // Every thread of a rank makes calls that are all alike, so that any order of them is the same on every rank.
  in_threads(party, [](Communicator& c) -> std::string {
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int call = 0; call < 100; ++call) {
          std::vector<std::int32_t> data(300, 1);
          if (!c.all_reduce(std::span<std::int32_t>(data)) || data != std::vector<std::int32_t>(300, 2)) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return check(wrong == 0, "every call of every thread gives the sum");
  });
}

TEST(Communicators, MayBeManyAtOnce) {
  std::vector<std::vector<Communicator>> parties;
  for (int i = 0; i < 5; ++i) parties.push_back(create_party(2));
  std::vector<std::thread> threads;
  for (auto& party : parties) {
    threads.emplace_back([&] { in_threads(party, [](Communicator& c) { return play_many(c, 30, 1 << 16, 400); }); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Abort, EndsEveryCallThatWaitsAndAllLaterOnesWithTheFirstReason) {
  auto party = create_party(3);
  std::atomic<int> waiting = 0;
  std::vector<Status> results(2);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      std::vector<float> data(1000);
      ++waiting;
      results[rank] = party[rank].all_reduce(std::span<float>(data));
    });
  }
  while (waiting < 2) std::this_thread::yield();
  party[2].abort({Code::aborted, "the loss is not a number"});
  party[2].abort({Code::aborted, "too late"});
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : results) {
    EXPECT_EQ(status.code(), Code::aborted);
    EXPECT_EQ(status.scope(), Scope::communicator);
    EXPECT_EQ(status.text(), "the loss is not a number");
  }
  for (Communicator& c : party) {
    EXPECT_EQ(c.barrier().text(), "the loss is not a number");
    EXPECT_EQ(c.health().text(), "the loss is not a number");
    EXPECT_EQ(c.split(0).status().text(), "the loss is not a number");
  }
}

TEST(MemoryUse, IsAFewMebibytesForEightRanksAndNearlyNothingForOne) {
  auto eight = create_party(8);
  in_threads(eight, [](Communicator& c) { return play_many(c, 100, 1 << 16, 500); });
  for (const Communicator& c : eight) {
    const MemoryUse use = c.memory();
    EXPECT_LE(use.shared_bytes + use.private_bytes, 4u << 20);
    EXPECT_GT(use.shared_bytes, 0u);
  }
  auto one = create_party(1);
  std::vector<float> data(1000);
  EXPECT_TRUE(one[0].all_reduce(std::span<float>(data)).is_ok());
  EXPECT_LE(one[0].memory().shared_bytes + one[0].memory().private_bytes, 64u << 10);
}

TEST(Explain, NamesThePlanThatRuns) {
  auto party = create_party(3);
  for (const std::uint64_t count : {1, 1000, 500000}) {
    const auto text = party[0].explain({.count = count});
    ASSERT_TRUE(text.is_ok()) << text.status().text();
    std::vector<std::vector<float>> data(3, std::vector<float>(count));
    in_threads(party, [&](Communicator& c) {
      return text_of(c.all_reduce(std::span<float>(data[static_cast<std::size_t>(c.rank())])));
    });
    EXPECT_NE(text->find(party[0].last_plan()), std::string::npos) << *text;
    EXPECT_NE(text->find("all_reduce of " + std::to_string(count)), std::string::npos) << *text;
  }
  EXPECT_EQ(party[0].explain({.collective = Collective::broadcast, .count = 1, .root = 3}).status().code(),
            Code::invalid_argument);
}

}  // namespace
}  // namespace tutti::conformance
