// What every kind of store promises.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

#include "bootstrap/store/place_for_test.h"

namespace tutti::bootstrap {
namespace {

class StoreContract : public testing::TestWithParam<Kind> {
 protected:
  StorePlace place{GetParam()};
};

TEST_P(StoreContract, WhatOneSetsTheOthersGet) {
  Store& one = place.open();
  Store& other = place.open();
  ASSERT_TRUE(one.set("key", value_of("first")));
  EXPECT_EQ(other.get("key")->value(), value_of("first"));
  ASSERT_TRUE(other.set("key", value_of("second, longer")));
  EXPECT_EQ(one.get("key")->value(), value_of("second, longer"));
  EXPECT_EQ(*one.wait("key", passed()), value_of("second, longer"));
}

TEST_P(StoreContract, AKeyThatIsNotThereIsNoError) {
  Store& store = place.open();
  const auto value = store.get("nothing");
  ASSERT_TRUE(value) << value.status().text();
  EXPECT_FALSE(value->has_value());
}

TEST_P(StoreContract, AnEmptyValueIsThere) {
  Store& store = place.open();
  ASSERT_TRUE(store.set("key", {}));
  EXPECT_TRUE(store.get("key")->has_value());
  EXPECT_TRUE(store.wait("key", passed())->empty());
}

TEST_P(StoreContract, AnyBytesAreAKeyOrAValue) {
  Store& store = place.open();
  std::string key;
  for (int byte = 0; byte < 256; ++byte) key.push_back(static_cast<char>(byte));
  ASSERT_TRUE(store.set(key, value_of(key)));
  EXPECT_EQ(place.open().get(key)->value(), value_of(key));
}

TEST_P(StoreContract, ALargeValueArrivesWholeAndALargerOneIsRefused) {
  Store& store = place.open();
  Bytes value(kValueBytesMax);
  for (std::size_t index = 0; index < value.size(); ++index) value[index] = static_cast<std::byte>(index * 7 >> 3);
  ASSERT_TRUE(store.set("large", value));
  EXPECT_EQ(place.open().get("large")->value(), value);
  EXPECT_EQ(*store.compare_and_swap("large", value, value), value);
  value.push_back(std::byte{0});
  EXPECT_EQ(store.set("large", value).code(), Code::invalid_argument);
  EXPECT_EQ(store.compare_and_swap("larger", {}, value).status().code(), Code::invalid_argument);
  EXPECT_FALSE(store.get("larger")->has_value());
}

TEST_P(StoreContract, KeysHaveALength) {
  Store& store = place.open();
  const std::string longest(kKeyBytesMax, 'k');
  const std::string too_long(kKeyBytesMax + 1, 'k');
  ASSERT_TRUE(store.set(longest, value_of("value")));
  EXPECT_TRUE(store.get(longest)->has_value());
  for (const std::string& key : {std::string(), too_long}) {
    EXPECT_EQ(store.set(key, {}).code(), Code::invalid_argument);
    EXPECT_EQ(store.get(key).status().code(), Code::invalid_argument);
    EXPECT_EQ(store.wait(key, soon()).status().code(), Code::invalid_argument);
    EXPECT_EQ(store.add(key, 1).status().code(), Code::invalid_argument);
    EXPECT_EQ(store.compare_and_swap(key, {}, {}).status().code(), Code::invalid_argument);
  }
}

TEST_P(StoreContract, WaitingEndsAtTheDeadlineAndNamesTheKey) {
  Store& store = place.open();
  const auto value = store.wait("never set", soon(std::chrono::milliseconds(5)));
  ASSERT_EQ(value.status().code(), Code::timed_out);
  EXPECT_NE(value.status().text().find("'never set'"), std::string::npos) << value.status().text();
  // Nothing is left over from a wait that was given up.
  ASSERT_TRUE(store.set("never set", value_of("set")));
  EXPECT_EQ(*store.wait("never set", passed()), value_of("set"));
  EXPECT_EQ(*store.add("counter", 3), 3);
}

TEST_P(StoreContract, WaitingEndsWhenTheKeyComes) {
  Store& waiting = place.open();
  Store& setting = place.open();
  Result<Bytes> value = Bytes();
  std::thread waiter([&] { value = waiting.wait("key", soon()); });
  EXPECT_TRUE(setting.set("another key", value_of("other")));
  EXPECT_TRUE(setting.set("key", value_of("here")));
  waiter.join();
  ASSERT_TRUE(value) << value.status().text();
  EXPECT_EQ(*value, value_of("here"));
}

TEST_P(StoreContract, OneHandleServesAThreadThatWaitsAndOneThatSets) {
  Store& store = place.open();
  std::vector<std::thread> waiters;
  std::vector<int> has_value(4);
  for (std::size_t index = 0; index < has_value.size(); ++index)
    waiters.emplace_back([&, index] { has_value[index] = store.wait("key", soon()).is_ok() ? 1 : 0; });
  EXPECT_EQ(*store.add("key", 5), 5);
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(has_value, std::vector<int>({1, 1, 1, 1}));
}

TEST_P(StoreContract, ALongWaitHoldsUpNobodyElse) {
  Store& store = place.open();
  Result<Bytes> value = Bytes();
  std::thread waiter([&] { value = store.wait("last", soon()); });
  for (int round = 1; round <= 200; ++round) EXPECT_EQ(*store.add("counter", 1), round);
  EXPECT_TRUE(store.set("last", value_of("here")));
  waiter.join();
  ASSERT_TRUE(value) << value.status().text();
  EXPECT_EQ(*value, value_of("here"));
}

TEST_P(StoreContract, CountersLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  std::vector<Store*> stores;
  for (int index = 0; index < kThreads; ++index) stores.push_back(&place.open());
  std::mutex mutex;
  std::set<std::int64_t> seen;
  std::vector<std::thread> threads;
  for (Store* store : stores)
    threads.emplace_back([&, store] {
      for (int round = 0; round < kRounds; ++round) {
        const auto sum = store->add("counter", 1);
        const std::lock_guard lock(mutex);
        if (sum) seen.insert(*sum);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), kThreads * kRounds);
  EXPECT_EQ(*stores[0]->add("counter", -kThreads * kRounds), 0);
}

TEST_P(StoreContract, ACounterIsEightBytesAndNothingElseIsACounter) {
  Store& store = place.open();
  EXPECT_EQ(*store.add("counter", -2), -2);
  EXPECT_EQ(store.get("counter")->value(), Bytes({std::byte{0xfe}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff},
                                                  std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}}));
  ASSERT_TRUE(store.set("text", value_of("abc")));
  EXPECT_EQ(store.add("text", 1).status().code(), Code::invalid_usage);
  EXPECT_EQ(*store.add("large", std::numeric_limits<std::int64_t>::max()), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(store.add("large", 1).status().code(), Code::invalid_usage);
  EXPECT_EQ(*store.add("large", 0), std::numeric_limits<std::int64_t>::max());
}

TEST_P(StoreContract, CompareAndSwapReturnsTheValueAfterwards) {
  Store& store = place.open();
  EXPECT_TRUE(store.compare_and_swap("key", value_of("something"), value_of("new"))->empty());
  EXPECT_FALSE(store.get("key")->has_value());
  EXPECT_EQ(*store.compare_and_swap("key", {}, value_of("first")), value_of("first"));
  EXPECT_EQ(*store.compare_and_swap("key", {}, value_of("second")), value_of("first"));
  EXPECT_EQ(*store.compare_and_swap("key", value_of("first"), value_of("third")), value_of("third"));
  EXPECT_EQ(store.get("key")->value(), value_of("third"));
}

TEST_P(StoreContract, OneOfManyWinsACompareAndSwap) {
  constexpr int kThreads = 4;
  std::vector<Store*> stores;
  for (int index = 0; index < kThreads; ++index) stores.push_back(&place.open());
  std::vector<Bytes> results(kThreads);
  std::vector<std::thread> threads;
  for (int index = 0; index < kThreads; ++index)
    threads.emplace_back([&, index] {
      auto value = stores[index]->compare_and_swap("leader", {}, value_of(std::to_string(index)));
      if (value) results[index] = *value;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(results[0].empty());
  for (const Bytes& result : results) EXPECT_EQ(result, results[0]);
}

TEST_P(StoreContract, AfterRemoveNothingIsInTheDirectoryAndThoseWhoAreThereGoOn) {
  Store& one = place.open();
  Store& other = place.open();
  ASSERT_TRUE(one.set("key", value_of("value")));
  one.remove();
  EXPECT_EQ(other.get("key")->value(), value_of("value"));
  EXPECT_EQ(*other.add("counter", 1), 1);
  place.close_all();
  EXPECT_TRUE(place.directory().is_empty());
}

INSTANTIATE_TEST_SUITE_P(All, StoreContract, testing::Values(Kind::process, Kind::file, Kind::unix_socket, Kind::tcp),
                         [](const auto& parameter) { return name_of(parameter.param); });

}  // namespace
}  // namespace tutti::bootstrap
