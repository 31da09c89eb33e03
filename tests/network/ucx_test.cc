// Communicators between virtual hosts whose data UCX carries.
#include <gtest/gtest.h>

#include <csignal>
#include <optional>

#include "tests/conformance/scenario.h"
#include "tests/network/job.h"
#include "transport/ucx.h"

namespace tutti::network {
namespace {

using conformance::play_many;

constexpr std::uint64_t kBytesMax = 3 << 20;
const std::vector<int> kHosts = {0, 0, 1, 1};

Environment transport_of(const std::string& choice, const std::string& networks) {
  return {{"TUTTI_TRANSPORT", choice}, {"UCX_TLS", networks}};
}

// Empty: this is what `explain` says of data between hosts.
std::string expect_carrier(Communicator& communicator, const std::string& carrier) {
  float value = 1;
  const auto text = communicator.explain({.in = &value, .out = &value, .count = 1, .type = DataType::float32});
  if (!text) return spoken(text.status());
  return text->find(carrier) != std::string::npos ? "" : "explain does not say '" + carrier + "': " + *text;
}

class UcxNetworkTest : public OnHosts {
 protected:
  void SetUp() override {
    if (!transport::is_ucx_built()) GTEST_SKIP() << "this build has no UCX";
    OnHosts::SetUp();
  }
};

struct Networks {
  std::string name;
  std::string ucx;  // as UCX_TLS names them; hosts share no memory, virtual ones neither
};
class UcxNetworks : public UcxNetworkTest, public testing::WithParamInterface<Networks> {};

TEST_P(UcxNetworks, EveryCollectiveGivesWhatItPromises) {
  for (const std::vector<int>& hosts : {kHosts, {2, 0, 1, 0, 2}}) {
    const Lab lab = create({.host_count = 3});
    Job job(lab, hosts,
            [](Communicator& communicator) {
              const std::string failure = play_many(communicator, 60, kBytesMax, 700);
              return failure.empty() ? expect_carrier(communicator, "UCX") : failure;
            },
            {.environment = transport_of("ucx", GetParam().ucx)});
    job.expect_success();
  }
}

INSTANTIATE_TEST_SUITE_P(Of, UcxNetworks, testing::Values(Networks{"tcp", "tcp"}, Networks{"all", "all"}),
                         [](const auto& networks) { return networks.param.name; });

// Calls until one fails, which is where the last rank dies; then the others go on.
std::string outlive_the_last(Communicator& communicator) {
  std::string failure;
  for (int i = 0; failure.empty(); ++i) {
    if (communicator.rank() + 1 == communicator.size() && i == 5) std::raise(SIGKILL);
    failure = play_many(communicator, 1, kBytesMax, static_cast<std::uint64_t>(i));
  }
  if (communicator.health().code() != Code::peer_lost) return failure;
  auto shrunk = communicator.shrink();
  if (!shrunk) return "shrink: " + spoken(shrunk.status());
  failure = play_many(*shrunk, 20, kBytesMax, 900);
  return failure.empty() ? expect_carrier(*shrunk, "UCX") : failure;
}

TEST_F(UcxNetworkTest, SurvivorsOfARankThatDiesShrinkAndGoOn) {
  const Lab lab = create();
  Job job(lab, kHosts, outlive_the_last, {.environment = transport_of("ucx", "tcp")});
  const auto texts = job.finish();
  for (std::size_t rank = 0; rank + 1 < texts.size(); ++rank) EXPECT_EQ(texts[rank], "") << job.logs();
}

TEST_F(UcxNetworkTest, ADemandThatAnotherHostRefusesEndsTheStartEverywhere) {
  const Lab lab = create();
  const JobOptions options{.environment = transport_of("ucx", "tcp")};
  Job job(lab, kHosts, options, [&](Rank rank, const Letter& letter) -> std::string {
    if (rank == 3) ::setenv("TUTTI_TRANSPORT", "tcp", 1);
    const auto communicator = Job::meet(rank, static_cast<Rank>(kHosts.size()), letter, options);
    return communicator ? "" : spoken(communicator.status());
  });
  for (const std::string& text : job.finish()) {
    expect_in(text, {"rank 0 demands UCX (TUTTI_TRANSPORT=ucx) and rank 3 cannot"});
  }
}

TEST_F(UcxNetworkTest, ADemandInAnEncryptedJobIsRefused) {
  const Lab lab = create();
  Environment environment = transport_of("ucx", "tcp");
  environment["TUTTI_ENCRYPT"] = "1";
  Job job(lab, {0, 1}, [](Communicator&) { return "it started"; }, {.environment = environment});
  for (const std::string& text : job.finish()) expect_in(text, {"this job is encrypted", "TUTTI_ENCRYPT"});
}

// No virtual host has a card.
TEST_F(UcxNetworkTest, TcpCarriesWhereNobodyDemandsUcx) {
  const Lab lab = create();
  for (const std::string choice : {"auto", "tcp"}) {
    Job job(lab, kHosts,
            [](Communicator& communicator) {
              const std::string failure = play_many(communicator, 5, kBytesMax, 3);
              return failure.empty() ? expect_carrier(communicator, "TCP carries data between hosts") : failure;
            },
            {.environment = transport_of(choice, "tcp")});
    job.expect_success();
  }
}

}  // namespace
}  // namespace tutti::network
