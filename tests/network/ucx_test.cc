// Communicators between virtual hosts whose data UCX carries.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <sstream>

#include "bootstrap/store/place_for_test.h"
#include "os/backoff.h"
#include "tests/network/lab/lab.h"
#include "tests/process/crew.h"
#include "tests/process/meeting.h"
#include "transport/ucx.h"
#include "tutti/communicator.h"

namespace tutti::network {
namespace {

using bootstrap::TemporaryDirectory;
using conformance::Crew;
using conformance::spoken;
using lab::Lab;

constexpr std::chrono::seconds kLimit(60);
constexpr int kHosts = 2;
constexpr int kRanksPerHost = 2;
constexpr Rank kRanks = kHosts * kRanksPerHost;

class UcxNetworkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!transport::is_ucx_built()) GTEST_SKIP() << "this build has no UCX";
    if (const Status status = Lab::is_possible(); !status) GTEST_SKIP() << status.text();
  }
};

// Rank 0 makes the identifier; files are what virtual hosts share.
Result<std::string> agree_on_store(Rank rank, const std::string& path) {
  if (rank == 0) {
    TUTTI_ASSIGN(const Identifier identifier, Identifier::create());
    std::ofstream(path + ".new") << "tcp:" << identifier.text();
    std::filesystem::rename(path + ".new", path);
  }
  os::Backoff backoff;
  const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(20));
  while (!std::filesystem::exists(path) && !deadline.has_passed(os::now())) backoff.pause(deadline);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Result<Communicator> meet(const Lab& lab, Rank rank, const std::string& path, const char* transport = "ucx") {
  setenv("TUTTI_TRANSPORT", transport, 1);
  setenv("UCX_TLS", "tcp", 1);
  TUTTI_TRY(lab.enter(rank / kRanksPerHost));
  TUTTI_ASSIGN(const std::string store, agree_on_store(rank, path));
  return Communicator::create(
      {.rank = rank, .size = kRanks, .store = store, .start_timeout = kLimit / 3, .timeout = kLimit / 3});
}

Status wrong(std::string text) { return {Code::internal, std::move(text)}; }

Status add_up(Communicator& communicator, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i % 1000 + static_cast<std::size_t>(communicator.rank()));
  TUTTI_TRY(communicator.all_reduce(std::span<float>(values)));
  for (std::size_t i = 0; i < count; ++i) {
    const auto expected = static_cast<float>(kRanks * (i % 1000) + kRanks * (kRanks - 1) / 2);
    if (values[i] != expected) return wrong(fmt::format("all_reduce of {}: {} at {}", count, values[i], i));
  }
  return {};
}

Status spread(Communicator& communicator, std::size_t count) {
  std::vector<std::int32_t> values(count);
  if (communicator.rank() == 1) std::iota(values.begin(), values.end(), 5);
  TUTTI_TRY(communicator.broadcast(std::span<std::int32_t>(values), 1));
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] != static_cast<std::int32_t>(i + 5))
      return wrong(fmt::format("broadcast of {}: {}", count, values[i]));
  }
  return {};
}

Status gather(Communicator& communicator, std::size_t count) {
  const std::vector<std::int32_t> mine(count, communicator.rank() + 1);
  std::vector<std::int32_t> all(count * kRanks);
  TUTTI_TRY(communicator.all_gather(std::span<const std::int32_t>(mine), std::span<std::int32_t>(all)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != static_cast<std::int32_t>(i / count + 1))
      return wrong(fmt::format("all_gather of {}: {}", count, all[i]));
  }
  return {};
}

// From the first rank to the last, which is on another host.
Status pass(Communicator& communicator, std::size_t count) {
  std::vector<std::int32_t> values(count, communicator.rank() == 0 ? 7 : 0);
  if (communicator.rank() == 0) return communicator.send(std::span<const std::int32_t>(values), kRanks - 1);
  if (communicator.rank() != kRanks - 1) return {};
  TUTTI_TRY(communicator.receive(std::span<std::int32_t>(values), 0));
  return values == std::vector<std::int32_t>(count, 7) ? Status() : wrong("a message came out wrong");
}

Status converse(Communicator& communicator) {
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t count : {1, 3, 1000, 20000, 1 << 20}) {
      TUTTI_TRY(add_up(communicator, count));
      TUTTI_TRY(spread(communicator, count));
      TUTTI_TRY(gather(communicator, count));
      TUTTI_TRY(pass(communicator, count));
    }
    TUTTI_TRY(communicator.barrier());
  }
  return {};
}

TEST_F(UcxNetworkTest, CollectivesAndMessagesOfAnySizeComeOutRight) {
  const auto lab = Lab::create();
  ASSERT_TRUE(lab) << lab.status().text();
  const TemporaryDirectory directory;
  Crew crew(kRanks, [&](int rank) -> std::string {
    auto communicator = meet(*lab, rank, directory / "identifier");
    if (!communicator) return spoken(communicator.status());
    if (const Status status = converse(*communicator); !status) return spoken(status);
    float value = 1;
    const auto text = communicator->explain({.in = &value, .out = &value, .count = 1, .type = DataType::float32});
    return text && text->find("UCX") != std::string::npos ? "" : "explain does not speak of UCX";
  });
  for (const std::string& text : crew.finish(kLimit)) EXPECT_EQ(text, "");
}

TEST_F(UcxNetworkTest, ARankThatDiesEndsTheCallsOfTheOthers) {
  const auto lab = Lab::create();
  ASSERT_TRUE(lab) << lab.status().text();
  const TemporaryDirectory directory;
  Crew crew(kRanks, [&](int rank) -> std::string {
    auto communicator = meet(*lab, rank, directory / "identifier");
    if (!communicator) return spoken(communicator.status());
    for (int i = 0;; ++i) {
      if (rank == kRanks - 1 && i == 5) std::raise(SIGKILL);
      if (const Status status = add_up(*communicator, 100000); !status) return std::string(name_of(status.code()));
    }
  });
  const auto texts = crew.finish(kLimit);
  for (std::size_t rank = 0; rank + 1 < texts.size(); ++rank) EXPECT_EQ(texts[rank], name_of(Code::peer_lost));
}

TEST_F(UcxNetworkTest, ADemandThatAnotherHostRefusesEndsTheStartEverywhere) {
  const auto lab = Lab::create();
  ASSERT_TRUE(lab) << lab.status().text();
  const TemporaryDirectory directory;
  Crew crew(kRanks, [&](int rank) -> std::string {
    const auto communicator = meet(*lab, rank, directory / "identifier", rank == kRanks - 1 ? "tcp" : "ucx");
    return communicator ? "" : std::string(communicator.status().text());
  });
  for (const std::string& text : crew.finish(kLimit)) {
    EXPECT_NE(text.find("rank 0 demands UCX (TUTTI_TRANSPORT=ucx) and rank 3 cannot"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tutti::network
