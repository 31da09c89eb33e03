#include "tools/perf/judge/expectation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "base/knobs.h"
#include "base/text.h"
#include "tools/perf/judge/made_run.h"
#include "tools/perf/judge/nccl_table.h"

namespace tutti::perf {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::string file_text(const std::string& path) {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR "/") + path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << path;
  return text.str();
}

// Two nodes with cards of the given rate: a100x16.topo itself is fitted to the slow table.
topology::Topology two_nodes(const std::string& card_rate) {
  std::string text = file_text("share/topologies/a100x16.topo");
  const std::string fitted = "4.47GB/s";
  const std::size_t comments_end = text.find("\ntopology");
  for (std::size_t at = comments_end; (at = text.find(fitted, at)) != std::string::npos;) {
    text.replace(at, fitted.size(), card_rate);
  }
  const auto parsed = topology::parse(text);
  EXPECT_TRUE(parsed) << parsed.status().text();
  return *parsed;
}

topology::Topology machine(const std::string& name) {
  const auto read = topology::read_file(TUTTI_SOURCE_DIR "/share/topologies/" + name);
  EXPECT_TRUE(read) << read.status().text();
  return *read;
}

Expectation expected(const perf::Run& run, const topology::Topology& topology) {
  const auto expectation = expect(run, topology);
  EXPECT_TRUE(expectation) << expectation.status().text();
  return expectation ? *expectation : Expectation{};
}

perf::Run published(const std::string& name) {
  const auto run = parse_table(file_text("tools/perf/judge/data/" + name));
  EXPECT_TRUE(run) << run.status().text();
  return *run;
}

// Asked for once: the planner takes a second for its 56 calls.
const Expectation& of_the_published_pair() {
  static const Expectation found = expected(published("a100x16.log"), two_nodes("12.5GB/s"));
  return found;
}

// Its plateau alone.
perf::Run largest_of_the_published_pair() {
  perf::Run run = published("a100x16.log");
  run.rows.erase(run.rows.begin(), run.rows.end() - 3);
  return run;
}

std::vector<Suspicion> of_kind(const Expectation& expectation, SuspicionKind kind) {
  std::vector<Suspicion> found = expectation.suspicions;
  std::erase_if(found, [&](const Suspicion& suspicion) { return suspicion.kind != kind; });
  return found;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Eight ranks of a laptop that take exactly the given multiple of the limit.
perf::Run at_factor(double factor, std::size_t sizes = 6) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < sizes; ++i) rows.push_back(row_of(std::uint64_t{1024} << (2 * i), {1}));
  perf::Run run = run_of(std::move(rows));
  const Expectation limits = expected(run, machine("laptop.topo"));
  for (std::size_t i = 0; i < sizes; ++i) {
    run.rows[i].out_of_place = measurement_of({limits.rows[i].limit_us * factor});
  }
  return run;
}

TEST(Expect, FindsTheTwoDipsOfThePublishedPairOfNodes) {
  const auto dips = of_kind(of_the_published_pair(), SuspicionKind::dip);
  ASSERT_EQ(dips.size(), 2U);
  EXPECT_EQ(dips[0].first_bytes, 16 * kMiB);
  EXPECT_EQ(dips[0].last_bytes, 16 * kMiB);
  EXPECT_EQ(dips[1].first_bytes, 64 * kMiB);
  EXPECT_EQ(dips[1].last_bytes, 256 * kMiB);
  EXPECT_EQ(dips[1].sentence,
            "64 MiB to 256 MiB got less bandwidth than smaller and larger sizes: 64 MiB took 6.058 ms, at the rate of "
            "32 MiB it would be 2.158 ms; in place too");
  EXPECT_TRUE(has(dips[1].remedy, "repeat to see whether it is chance")) << dips[1].remedy;
}

TEST(Expect, FindsThePlateauFarBelowTheLineRate) {
  const Expectation& found = of_the_published_pair();
  const auto plateaus = of_kind(found, SuspicionKind::plateau);
  ASSERT_EQ(plateaus.size(), 1U);
  EXPECT_EQ(plateaus[0].first_bytes, 512 * kMiB);
  EXPECT_TRUE(has(plateaus[0].sentence, "levels off at 71.6 GB/s")) << plateaus[0].sentence;
  EXPECT_TRUE(has(plateaus[0].sentence, "30 % of the 238.0 GB/s")) << plateaus[0].sentence;
  for (const std::string_view setting :
       {"NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_GID_INDEX", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"}) {
    EXPECT_TRUE(has(plateaus[0].remedy, setting)) << plateaus[0].remedy;
  }
  // The other published pair of this hardware reached 225 GB/s: the limit is one that machines come near.
  EXPECT_GT(found.rows.back().limit_bus_gbps, 225);
  EXPECT_LT(found.rows.back().limit_bus_gbps, 250);
}

TEST(Expect, SeesThatThePlacementsDifferAtOneSize) {
  const auto found = of_kind(of_the_published_pair(), SuspicionKind::placement);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sentence, "out of place and in place differ at 64 MiB: 64 MiB took 6.058 ms and 3.709 ms");
  EXPECT_TRUE(has(found[0].remedy, "repeat")) << found[0].remedy;
}

TEST(Expect, FindsOnlyTheUsualOfTheHealthyNode) {
  const Expectation found = expected(published("a100x8.log"), machine("a100x8.topo"));
  ASSERT_EQ(found.rows.size(), 56U);
  EXPECT_GT(found.rows.back().fraction, 0.9);
  ASSERT_EQ(found.suspicions.size(), 1U) << text_of(found);
  EXPECT_EQ(found.suspicions[0].kind, SuspicionKind::disagree);
  EXPECT_TRUE(has(found.suspicions[0].remedy, "usual")) << found.suspicions[0].remedy;
}

TEST(Expect, IsContentWithTheLimit) {
  const Expectation found = expected(at_factor(1), machine("laptop.topo"));
  EXPECT_TRUE(found.suspicions.empty()) << text_of(found);
  EXPECT_NEAR(found.rows[0].fraction, 1, 1e-9);
  EXPECT_TRUE(has(text_of(found), "# Nothing is suspicious.\n"));
}

TEST(Expect, DoubtsTheTopologyWhereTheRunIsFaster) {
  const auto found = of_kind(expected(at_factor(0.5), machine("laptop.topo")), SuspicionKind::too_fast);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(has(found[0].remedy, "slower machine than this one")) << found[0].remedy;
}

TEST(Expect, BlamesRanksWithoutCores) {
  perf::Run run = at_factor(4);
  run.setup.processor = "2 cores of Neoverse V1";
  const Expectation found = expected(run, machine("laptop.topo"));
  ASSERT_FALSE(of_kind(found, SuspicionKind::latency).empty()) << text_of(found);
  EXPECT_TRUE(has(of_kind(found, SuspicionKind::latency)[0].remedy, "8 ranks share 2 cores"));
}

TEST(Expect, RefusesAnotherNumberOfRanks) {
  const auto found = expect(run_of({row_of(8, {1})}, 4), machine("laptop.topo"));
  ASSERT_FALSE(found);
  EXPECT_EQ(
      found.status().text(),
      "the run has 4 ranks, the topology \"laptop with 8 cores\" 8 devices: measure with 8 ranks, or describe the "
      "4 that took part (docs/guide/topologies.md)");
}

TEST(Expect, RefusesWhatItCannotName) {
  perf::Run run = run_of({row_of(8, {1})});
  run.setup.program = "";
  EXPECT_FALSE(expect(run, machine("laptop.topo")));
  run.setup.program = "latency_test";
  EXPECT_TRUE(has(std::string(expect(run, machine("laptop.topo")).status().text()), "'latency_test' is none of"));
  run.setup.program = "all_reduce_perf";
  run.setup.seats.clear();
  run.setup.processes = 0;
  EXPECT_FALSE(expect(run, machine("laptop.topo")));
}

TEST(Expect, SaysThatSomeProgramsHaveNoLimit) {
  for (const std::string name : {"sendrecv_perf", "alltoallv_perf", "hypercube_perf"}) {
    perf::Run run = run_of({row_of(8, {1}), row_of(16, {5, 5, 9})});
    run.setup.program = name;
    const Expectation found = expected(run, machine("laptop.topo"));
    EXPECT_TRUE(found.rows.empty());
    ASSERT_EQ(found.notes.size(), 1U);
    EXPECT_EQ(found.notes[0], name + " is not one collective of the planner: there is no limit for it");
    EXPECT_EQ(of_kind(found, SuspicionKind::variation).size(), 1U) << "what times alone show is said all the same";
  }
}

TEST(Expect, KnowsALimitForEveryOtherProgram) {
  for (const std::string name : {"all_reduce_perf", "all_gather_perf", "broadcast_perf", "reduce_scatter_perf",
                                 "reduce_perf", "alltoall_perf", "gather_perf", "scatter_perf"}) {
    perf::Run run = run_of({row_of(8 * kMiB, {1000}, {1000})});
    run.setup.program = name;
    run.rows[0].count = kMiB / 4;
    const Expectation found = expected(run, machine("laptop.topo"));
    ASSERT_EQ(found.rows.size(), 2U) << name << text_of(found);
    EXPECT_GT(found.rows[0].limit_us, 1) << name;
    EXPECT_GT(found.rows[1].limit_us, 1) << name;
  }
}

TEST(Expect, HasNoLimitForGroupsThatShareTheMachine) {
  perf::Run run = run_of({row_of(8, {1})});
  run.setup.seats[7].group = 1;
  const Expectation found = expected(run, machine("laptop.topo"));
  EXPECT_TRUE(found.rows.empty());
  EXPECT_TRUE(has(found.notes[0], "split into groups"));
}

TEST(Expect, SeesAnInterfaceThatReachesNobody) {
  perf::Run run = largest_of_the_published_pair();
  run.setup.settings = {{"NCCL_SOCKET_IFNAME", "eth0,docker0"}};
  const auto found = of_kind(expected(run, two_nodes("12.5GB/s")), SuspicionKind::interface);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sentence, "NCCL_SOCKET_IFNAME names docker0, which reaches no other host");
  run.setup.settings = {{"NCCL_SOCKET_IFNAME", "^docker0,lo"}};
  EXPECT_TRUE(of_kind(expected(run, two_nodes("12.5GB/s")), SuspicionKind::interface).empty());
}

TEST(Expect, TellsSettingsAsTheyAre) {
  perf::Run run = largest_of_the_published_pair();
  run.setup.library = "NCCL 2.28.9";
  run.setup.settings = {{"NCCL_IB_QPS_PER_CONNECTION", "1"}};
  const auto plateau = of_kind(expected(run, two_nodes("12.5GB/s")), SuspicionKind::plateau);
  EXPECT_TRUE(has(plateau[0].remedy, "NCCL_IB_QPS_PER_CONNECTION (now 1), NCCL_IB_GID_INDEX (unset)"))
      << plateau[0].remedy;
}

TEST(Expect, SeesIterationsThatScatterAndAColdStart) {
  perf::Run run = at_factor(1);
  run.rows[2].out_of_place->samples_us = {90, 10, 11, 10, 10, 11};
  run.rows[2].out_of_place->distribution = distribution_of(run.rows[2].out_of_place->samples_us);
  const Expectation found = expected(run, machine("laptop.topo"));
  ASSERT_EQ(of_kind(found, SuspicionKind::warm_up).size(), 1U);
  EXPECT_EQ(of_kind(found, SuspicionKind::warm_up)[0].sentence,
            "the first iteration at 16 KiB took up to 9.0 times as long as the others");
  EXPECT_EQ(of_kind(found, SuspicionKind::variation).size(), 1U);
}

TEST(ExpectationText, HasLinesThatReadersOfNcclTestsSkip) {
  for (const std::string& text :
       {text_of(of_the_published_pair()), text_of(expected(at_factor(3), machine("laptop.topo")))}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line == "#" || line.starts_with("# ")) << line;
    }
  }
}

TEST(ExpectationText, TellsARemedyOnce) {
  const std::string text = text_of(of_the_published_pair());
  EXPECT_TRUE(has(text, "#   Remedy: as for the dip above\n")) << text;
}

// A remedy that names a setting which does not exist helps nobody.
TEST(Remedies, NameKnobsThatExist) {
  std::set<std::string_view> known;
  for (const Knob& knob : all_knobs()) known.insert(knob.name);
  Surroundings here{
      .library = Library::tutti, .ranks = 16, .hosts = 2, .cores = {}, .has_settings = true, .settings = {}};
  std::size_t named = 0;
  for (const std::size_t hosts : {1, 2}) {
    here.hosts = hosts;
    for (std::string text :
         {remedy_for_bandwidth(here), remedy_for_latency(here), remedy_for_dip(here, true), remedy_for_noise(here)}) {
      std::replace(text.begin(), text.end(), ',', ' ');
      for (const std::string_view word : text::words(text)) {
        if (!word.starts_with("TUTTI_")) continue;
        EXPECT_TRUE(known.contains(word)) << word;
        ++named;
      }
    }
  }
  EXPECT_GE(named, 6U);
}

}  // namespace
}  // namespace tutti::perf
