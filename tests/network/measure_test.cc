// The network as a start measures it: near the truth, the same on every rank, and seen in what explain() says.
#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/network/job.h"

namespace tutti::network {
namespace {

using std::chrono::seconds;

class Measure : public OnHosts {};

std::string network_in(const std::string& text) {
  const std::size_t at = text.find("  network: ");
  return at == std::string::npos ? "none in: " + text : text.substr(at, text.find('\n', at) - at);
}

// In bytes; 0: no rate in it.
double rate_in(const std::string& text) {
  const std::size_t at = text.find("one way, ");
  if (at == std::string::npos) return 0;
  std::string rate = text.substr(at + 9, text.find(',', at + 9) - at - 9);
  std::erase(rate, ' ');
  return text::rate_of(rate).value_or(0);
}

// What explain() tells each rank, by itself and of a part that all ranks are in.
std::vector<std::string> explained(const Lab& lab, const std::vector<int>& hosts, const JobOptions& options = {}) {
  Job job(
      lab, hosts,
      [](Communicator& communicator) -> std::string {
        auto part = communicator.split(0);
        if (!part) return spoken(part.status());
        const Call call{.count = 1 << 20};
        const std::string text = *communicator.explain(call);
        if (*(*part)->explain(call) != text) return "a part explains it differently: " + *(*part)->explain(call);
        std::vector<float> data(1000, 1);
        const Status status = (*part)->all_reduce(std::span<float>(data));
        const bool is_right = data == std::vector<float>(1000, static_cast<float>(communicator.size()));
        return status && is_right ? text : "the sum is wrong: " + spoken(status);
      },
      options);
  return job.finish();
}

// Far enough apart that no disturbance takes one for the other.
TEST_F(Measure, FindsWhatAShapedLineCarriesAndTellsAllRanks) {
  for (const std::uint64_t bits : {100'000'000u, 1'000'000'000u}) {
    const Lab lab = create({.rails = {{.bits_per_second = bits}}});
    const auto texts = explained(lab, {0, 0, 1});
    const std::string network = network_in(texts[0]);
    const double line = static_cast<double>(bits) / 8;
    EXPECT_GT(rate_in(network), 0.25 * line) << network;
    EXPECT_LT(rate_in(network), 2 * line) << network;
    for (const std::string& text : texts) EXPECT_EQ(network_in(text), network);
  }
}

TEST_F(Measure, CountsAllRailsTogether) {
  constexpr std::uint64_t kGigabit = 1'000'000'000;
  const Lab lab = create({.rails = {{.bits_per_second = kGigabit}, {.bits_per_second = kGigabit}}});
  // On a busy machine the measurement may have no time for values that are long enough for both.
  constexpr int kTries = 30;
  std::string network;
  for (int i = 0; i < kTries && (i == 0 || rate_in(network) <= 0.14 * kGigabit); ++i) {
    network = network_in(explained(lab, {0, 1})[0]);
  }
  EXPECT_GT(rate_in(network), 0.14 * kGigabit) << network;
  EXPECT_LT(rate_in(network), 0.5 * kGigabit) << network;
}

TEST_F(Measure, ExplainNamesHostsAndRails) {
  const Lab lab = create({.rails = {{}, {}}});
  const auto texts = explained(lab, {0, 0, 1});
  expect_in(texts[0],
            {"hosts: host0 (ranks 0-1), host1 (rank 2)", "TCP carries data between hosts, not encrypted",
             "to host1: eth0 to rank 2 (10.77.0.1 to 10.77.0.2) and eth1 to rank 2 (10.77.1.1 to 10.77.1.2)"});
  expect_in(texts[2], {"to host0: eth0 to rank 0 (10.77.0.2 to 10.77.0.1)"});
  EXPECT_GT(rate_in(network_in(texts[0])), 0) << texts[0];
}

TEST_F(Measure, CanBeSwitchedOff) {
  const Lab lab = create();
  for (const std::string& text : explained(lab, {0, 1, 1}, {.environment = {{"TUTTI_MEASURE", "off"}}})) {
    EXPECT_EQ(network_in(text), "  network: not measured; 30 us one way and 1 GB/s are assumed");
  }
}

TEST_F(Measure, GoesThroughEncryptedConnections) {
  const Lab lab = create();
  const auto texts = explained(lab, {0, 1}, {.environment = {{"TUTTI_ENCRYPT", "1"}}});
  EXPECT_GT(rate_in(network_in(texts[0])), 0) << texts[0];
  EXPECT_EQ(network_in(texts[0]), network_in(texts[1]));
  expect_in(texts[0], {"TCP carries data between hosts, encrypted"});
}

TEST_F(Measure, AsksAFewHostsOnlyOnce) {
  const Lab lab = create({.host_count = 6});
  const Letter grown;
  Job job(lab, {0, 1, 2, 3, 4, 5, 0}, {.environment = {{"TUTTI_LOG", "info"}}},
          [&](Rank rank, const Letter& letter) -> std::string {
            std::string before;
            auto larger = [&]() -> Result<Communicator> {
              if (rank == 6) return Job::join(rank, 7, grown.read());  // comes later
              TUTTI_ASSIGN(Communicator first, Job::meet(rank, 6, letter));
              if (rank == 0) grown.write(Identifier::create()->text());
              before = network_in(*first.explain({.count = 1}));
              return first.grow(*Identifier::parse(grown.read()), 7);
            }();
            if (!larger) return spoken(larger.status());
            auto part = larger->split(0);
            if (!part) return spoken(part.status());
            const std::string after = network_in(*(*part)->explain({.count = 1}));
            return before.empty() || before == after ? after : "other numbers: " + before + after;
          });
  const auto texts = job.finish();
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
  EXPECT_GT(rate_in(texts[0]), 0) << texts[0];
  for (const int partner : {1, 3, 5}) expect_in(job.log(0), {fmt::format("measured with rank {} ", partner)});
  std::size_t count = 0;
  for (std::size_t at = 0; (at = job.log(0).find("the network, measured with", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 3u) << job.log(0);
}

// On a line so slow that measuring takes much longer than dying.
TEST_F(Measure, ALossMeanwhileFailsTheStartOfAllOthersWithOneSentence) {
  for (const Rank victim : {0, 1}) {
    const Lab lab = create({.host_count = 3, .rails = {{.bits_per_second = 100'000}}});
    Job job(lab, {0, 1, 2}, {.environment = {{"TUTTI_LOG", "info"}}}, [](Rank rank, const Letter& letter) {
      const auto communicator = Job::meet(rank, 3, letter);
      return communicator ? "started" : spoken(communicator.status());
    });
    // Everybody has met by then.
    const auto all_measure = [&] {
      const auto is_at_it = [&](Rank rank) { return job.log(rank).find("measuring the") != std::string::npos; };
      return is_at_it(0) && is_at_it(1) && is_at_it(2);
    };
    const Deadline deadline = Deadline::after(os::now(), seconds(60));
    while (!all_measure() && !deadline.has_passed(os::now())) ::usleep(1000);
    job.crew().send(victim, SIGKILL);
    const auto texts = job.finish();
    for (const Rank rank : {0, 1, 2}) {
      if (rank == victim) continue;
      expect_in(
          texts[static_cast<std::size_t>(rank)],
          {fmt::format("peer lost: starting rank {} of 3: measuring the network: rank {}", rank, victim), "has died"});
    }
  }
}

}  // namespace
}  // namespace tutti::network
