// Ranks on other hosts that are killed, stopped or cut off at any moment: all others learn who it was, soon, and
// nothing is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/conformance/scenario.h"
#include "tests/network/job.h"

namespace tutti::network {
namespace {

using conformance::draw_scenario;
using conformance::play;
using std::chrono::seconds;

#ifdef TUTTI_HAS_SANITIZER
constexpr int kRounds = 8;
#else
constexpr int kRounds = 20;
#endif

class Losses : public OnHosts {};

// When each rank's calls ended, as others see it.
class Ends {
 public:
  Ends() {
    void* memory = ::mmap(nullptr, sizeof(Times), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    times_ = new (memory) Times{};
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() { ::munmap(times_, sizeof(Times)); }
  void note(Rank rank) const { times_->ns[static_cast<std::size_t>(rank)].store(os::now().ns); }
  double seconds_after(Time begin, Rank rank) const {
    return static_cast<double>(times_->ns[static_cast<std::size_t>(rank)].load() - begin.ns) * 1e-9;
  }

 private:
  struct Times {
    std::atomic<std::uint64_t> ns[16];
  };
  Times* times_;
};

// Calls of all kinds until one fails; how the communicator ended. Later calls must fail with the same sentence.
std::string play_until_lost(Communicator& communicator, std::uint64_t seed, const Ends* ends = nullptr) {
  constexpr std::uint64_t kBytesMax = 1 << 20;
  Random random(seed);
  for (int i = 0;; ++i) {
    const auto scenario = draw_scenario(random, communicator.size(), i % 4 == 0 ? kBytesMax : kBytesMax / 64);
    const std::string failure = play(communicator, scenario);
    if (failure.empty()) continue;
    if (ends != nullptr) ends->note(communicator.rank());
    const Status why = communicator.health();
    if (why.is_ok()) return "a call failed and the communicator lives on: " + failure;
    const Status later = communicator.barrier();
    if (later.text() != why.text() || later.code() != why.code()) return "a later call says " + spoken(later);
    if (why.scope() != Scope::communicator) return "the scope is another: " + spoken(why);
    return spoken(why);
  }
}

std::size_t open_files() {
  std::error_code ignored;
  std::size_t count = 0;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", ignored);
       entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
    ++count;
  }
  return count;
}

struct Blow {
  Rank victim = 0;
  int signal = SIGKILL;
  std::uint64_t seed = 0;
  std::uint64_t wait_us = 0;
};

// How long each survivor took.
std::vector<double> strike(const Lab& lab, const std::vector<int>& hosts, const Blow& blow,
                           const Environment& environment, const std::string& how) {
  const auto size = static_cast<Rank>(hosts.size());
  const Board board;
  const Ends ends;
  Job job(lab, hosts,
          [&](Communicator& communicator) {
            ++board.started();
            return play_until_lost(communicator, blow.seed, &ends);
          },
          {.times = {.call = seconds(30)}, .environment = environment});
  const std::string context =
      fmt::format("TUTTI_SEED={} rank {} of {} struck after {} us", test_seed(), blow.victim, size, blow.wait_us);
  std::vector<double> delays;
  EXPECT_TRUE(Board::wait_for(board.started(), static_cast<std::uint32_t>(size))) << context << job.logs();
  ::usleep(static_cast<useconds_t>(blow.wait_us));
  const Time begin = os::now();
  job.crew().send(blow.victim, blow.signal);
  if (blow.signal == SIGSTOP) {
    // It goes on when the others are done, so that it can end.
    for (Rank rank = 0; rank < size; ++rank) {
      if (rank != blow.victim) lab::has_ended(job.pid(rank), seconds(20));
    }
    job.crew().send(blow.victim, SIGCONT);
  }
  const auto texts = job.finish(seconds(30));
  const std::string name = fmt::format("rank {} (pid {} on {})", blow.victim, job.pid(blow.victim),
                                       Lab::host_name(hosts[static_cast<std::size_t>(blow.victim)]));
  for (Rank rank = 0; rank < size; ++rank) {
    if (rank == blow.victim) continue;
    const std::string& text = texts[static_cast<std::size_t>(rank)];
    EXPECT_TRUE(text.starts_with("peer lost: ")) << context << ", rank " << rank << ": " << text << job.logs();
    for (const std::string& part : {name, how, std::string("(call "), std::string(" waited ")}) {
      EXPECT_NE(text.find(part), std::string::npos) << context << ", rank " << rank << ": " << text;
    }
    delays.push_back(ends.seconds_after(begin, rank));
  }
  return delays;
}

const std::vector<std::vector<int>> kPlaces = {{0, 1}, {0, 0, 1}, {0, 1, 1, 0}, {0, 1, 2}, {0, 1, 1, 2, 0}};

TEST_F(Losses, KilledRanksAreNamedByAllOthersSoon) {
  Random random(test_seed());
  Lab lab = create({.host_count = 3});
  const std::size_t open_before = open_files();
  std::vector<double> delays;
  const int rounds = runs_all() ? 200 : kRounds;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const auto& hosts = kPlaces[random.below(kPlaces.size())];
    const Blow blow{.victim = static_cast<Rank>(random.below(hosts.size())),
                    .seed = random.next(),
                    .wait_us = random.below(round % 5 == 0 ? 200'000 : 20'000)};
    for (const double delay : strike(lab, hosts, blow, {}, "which has died")) delays.push_back(delay);
    EXPECT_TRUE(lab.clear(seconds(5))) << "a process is left";
  }
  std::sort(delays.begin(), delays.end());
  ASSERT_FALSE(delays.empty());
  fmt::print("deaths were noticed after {:.0f} ms (median), {:.0f} ms (most)\n", delays[delays.size() / 2] * 1e3,
             delays.back() * 1e3);
  EXPECT_LT(delays.back(), 5);
  EXPECT_EQ(open_files(), open_before);
}

TEST_F(Losses, StoppedRanksAreNamedAsSilent) {
  Random random(test_seed() + 1);
  const Lab lab = create({.host_count = 3});
  const int rounds = runs_all() ? 20 : 2;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const auto& hosts = kPlaces[random.below(kPlaces.size())];
    const Blow blow{.victim = static_cast<Rank>(random.below(hosts.size())),
                    .signal = SIGSTOP,
                    .seed = random.next(),
                    .wait_us = random.below(50'000)};
    for (const double delay : strike(lab, hosts, blow, {{"TUTTI_SILENCE", "2"}}, "which is silent")) {
      EXPECT_GT(delay, 1.5);
      EXPECT_LT(delay, 8);
    }
  }
}

// The first call between two hosts makes the connection.
TEST_F(Losses, RanksThatAreLostBeforeTheFirstCallAreNamed) {
  const std::pair<int, std::string> losses[] = {{SIGKILL, "which has died"}, {SIGSTOP, "which is silent"}};
  for (const auto& [signal, how] : losses) {
    for (const Rank victim : {0, 1}) {
      const Lab lab = create();
      const Board board;
      Job job(lab, {0, 1},
              [&](Communicator& communicator) -> std::string {
                ++board.started();
                if (!Board::wait_for(board.released(), 1)) return "never released";
                return communicator.rank() == victim ? "" : spoken(communicator.barrier());
              },
              {.environment = {{"TUTTI_SILENCE", "2"}}});
      ASSERT_TRUE(Board::wait_for(board.started(), 2)) << job.logs();
      const Rank other = 1 - victim;
      job.crew().send(victim, signal);
      ++board.released();
      EXPECT_TRUE(lab::has_ended(job.pid(other), seconds(10)));
      job.crew().send(victim, SIGCONT);
      expect_in(job.finish()[static_cast<std::size_t>(other)],
                {"peer lost: barrier (call 1) on rank ",
                 fmt::format("for rank {} (pid {} on host{}), {}", victim, job.pid(victim), victim, how)});
    }
  }
}

// Nobody gets a RST. Each side names somebody of the other.
TEST_F(Losses, AHostThatIsCutOffEndsTheCallsOfBothSides) {
  const std::vector<int> hosts = {0, 1, 0, 1, 2};
  for (const int cut : runs_all() ? std::vector<int>{0, 1, 2} : std::vector<int>{1}) {
    Lab lab = create({.host_count = 3});
    const Board board;
    const Ends ends;
    Job job(lab, hosts,
            [&](Communicator& communicator) {
              ++board.started();
              return play_until_lost(communicator, 7, &ends);
            },
            {.times = {.call = seconds(30)}, .environment = {{"TUTTI_SILENCE", "2"}}});
    ASSERT_TRUE(Board::wait_for(board.started(), 5)) << job.logs();
    const Time begin = os::now();
    ASSERT_TRUE(lab.cut(cut));
    const auto texts = job.finish(seconds(40));
    for (Rank rank = 0; rank < 5; ++rank) {
      const std::string& text = texts[static_cast<std::size_t>(rank)];
      const bool is_inside = hosts[static_cast<std::size_t>(rank)] == cut;
      bool names_other_side = false;
      for (Rank other = 0; other < 5; ++other) {
        const int host = hosts[static_cast<std::size_t>(other)];
        if ((host == cut) == is_inside) continue;
        names_other_side |= text.find(fmt::format("for rank {} (pid {} on {})", other, job.pid(other),
                                                  Lab::host_name(host))) != std::string::npos;
      }
      EXPECT_TRUE(text.starts_with("peer lost: ")) << "rank " << rank << ": " << text << job.logs();
      EXPECT_TRUE(names_other_side) << "host " << cut << " cut, rank " << rank << ": " << text;
      EXPECT_LT(ends.seconds_after(begin, rank), 10) << text;
    }
  }
}

}  // namespace
}  // namespace tutti::network
