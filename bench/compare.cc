// Tutti beside Open MPI, MPICH and Gloo on this machine, interleaved in one run. Start it as bench/compare, which
// builds it first; `bench/compare --help` says what can be chosen.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/text.h"
#include "bench/comparison/contenders.h"
#include "bench/comparison/hosts.h"
#include "bench/comparison/processes.h"
#include "bench/comparison/report.h"
#include "bench/comparison/rounds.h"
#include "tests/network/lab/lab.h"

namespace {

using namespace tutti;
using namespace tutti::bench;
using plan::Collective;

constexpr std::uint64_t kBytesMax = 1 << 30;  // MPI counts elements with an int

struct Options {
  std::vector<Rank> ranks = {2, 4, 8};
  int hosts = 1;
  std::vector<int> per_host = {1, 2};
  int rails = 1;
  std::string rate = "none";
  std::vector<std::string> collectives = {"all_reduce"};
  std::string sizes = "8,64,512,4K,32K,256K,1M,4M,16M,64M";
  int repeats = 5;
  double seconds = 0.1;
  double limit_s = 60;
  std::vector<std::string> peers = {};
  std::vector<std::string> buffers = {"malloc", "allocated"};
  std::string json = {};
  bool is_quick = false;
  bool is_thorough = false;
  bool has_times = false;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--np", options.ranks, "numbers of processes")->delimiter(',')->capture_default_str();
  app.add_option("--hosts", options.hosts, "virtual hosts to run on, joined by TCP; 1: this machine")
      ->check(CLI::Range(1, lab::kHostsMax))
      ->capture_default_str();
  app.add_option("--per-host", options.per_host, "numbers of processes on each host, instead of --np")
      ->delimiter(',')
      ->check(CLI::Range(1, 32))
      ->capture_default_str();
  app.add_option("--rails", options.rails, "networks between the hosts")
      ->check(CLI::Range(1, lab::kRailsMax))
      ->capture_default_str();
  app.add_option("--rate", options.rate, "of each rail and direction: none, 100mbit, 1gbit, 10gbit")
      ->capture_default_str();
  app.add_option("--collectives", options.collectives, "such as all_reduce,broadcast, or all")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--sizes", options.sizes, "bytes: a list such as 8,4K,1M, or a range of powers of 8")
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "runs of each contender")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "timed calls of one size in one run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--limit", options.limit_s, "seconds after which a run is stopped")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--peers", options.peers, "libraries or settings, such as openmpi,mpich-m; default: all")
      ->delimiter(',');
  app.add_option("--buffers", options.buffers, "of Tutti: malloc, allocated (by tutti::allocate) or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"malloc", "allocated"}))
      ->capture_default_str();
  app.add_option("--json", options.json, "write everything measured to this file");
  app.add_flag("--quick", options.is_quick, "2 repeats, 5 sizes, short: a look, not a result");
  app.add_flag("--thorough", options.is_thorough, "every known setting of the peers, not only those that were best");
  app.add_flag("--times", options.has_times, "print every contender's time too");
}

Result<std::uint64_t> size_of_word(std::string_view word) {
  const auto bytes = text::bytes_of(word);
  if (bytes && *bytes >= sizeof(float) && *bytes <= kBytesMax) return *bytes;
  return invalid_argument(fmt::format("'{}' is no size; give 4 to 1G, such as 8, 4K or 64M", word));
}

Result<std::vector<std::uint64_t>> sizes_of(std::string_view text) {
  std::set<std::uint64_t> sizes;
  for (const std::string_view word : text::split(text, ',')) {
    const std::size_t dash = word.find('-');
    TUTTI_ASSIGN(const std::uint64_t first, size_of_word(word.substr(0, dash)));
    sizes.insert(first);
    if (dash == std::string_view::npos) continue;
    TUTTI_ASSIGN(const std::uint64_t last, size_of_word(word.substr(dash + 1)));
    for (std::uint64_t bytes = first; bytes < last; bytes *= 8) sizes.insert(bytes);
    sizes.insert(last);
  }
  return std::vector<std::uint64_t>(sizes.begin(), sizes.end());
}

Result<std::vector<Collective>> collectives_of(const std::vector<std::string>& names) {
  std::vector<Collective> collectives;
  for (const std::string& name : names) {
    if (name == "all") return std::vector<Collective>(plan::kCollectives.begin(), plan::kCollectives.end());
    const auto collective = plan::collective_of(name);
    if (!collective) return invalid_argument(fmt::format("'{}' is no collective; see `tutti plan list`", name));
    collectives.push_back(*collective);
  }
  return collectives;
}

// Those that were asked for and whose program is there. A setting that is named takes part without --thorough.
Result<std::vector<Contender>> contenders_of(const Options& options, const std::string& folder) {
  std::vector<Contender> contenders;
  std::set<std::string> known;
  std::set<std::string> missing;
  const auto is_listed = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const Contender& contender : options.hosts > 1 ? contenders_across_hosts() : all_contenders()) {
    known.insert({contender.name, contender.library});
    const bool is_named = is_listed(options.peers, contender.name);
    if (contender.is_thorough && !options.is_thorough && !is_named) continue;
    if (contender.is_peer() && !options.peers.empty() && !is_named && !is_listed(options.peers, contender.library))
      continue;
    if (contender.name == kTuttiMalloc && !is_listed(options.buffers, "malloc")) continue;
    if (contender.name == kTuttiAllocated && !is_listed(options.buffers, "allocated")) continue;
    if (!std::filesystem::exists(folder + "/bench_peer_" + contender.library)) {
      missing.insert(contender.library);
      continue;
    }
    contenders.push_back(contender);
  }
  for (const std::string& peer : options.peers) {
    if (!known.contains(peer))
      return invalid_argument(fmt::format("no peer is called '{}'; one of {}", peer, fmt::join(known, ", ")));
  }
  for (const std::string& library : missing) {
    fmt::print(stderr, "without {}: it was not found when bench_peer_{} was to be built; see bench/README.md\n",
               library, library);
  }
  return contenders;
}

// "100mbit", "1gbit" or "none".
Result<std::uint64_t> bits_of(const std::string& rate) {
  if (rate == "none") return std::uint64_t{0};
  const std::size_t unit = rate.find_first_not_of("0123456789");
  const auto number = text::integer_of<std::uint64_t>(std::string_view(rate).substr(0, unit));
  const std::string_view name = unit == std::string::npos ? "" : std::string_view(rate).substr(unit);
  const std::uint64_t factor = name == "mbit" ? 1'000'000 : name == "gbit" ? 1'000'000'000 : 0;
  if (number && *number >= 1 && *number <= 1000 && factor != 0) return *number * factor;
  return invalid_argument(fmt::format("--rate {}: give none, or a rate such as 100mbit, 1gbit or 10gbit", rate));
}

// The numbers of ranks, and what lies between them.
Status place_ranks(const Options& options, Schedule& schedule) {
  schedule.ranks = options.ranks;
  schedule.network = {.host_count = options.hosts, .rail_count = options.rails};
  TUTTI_ASSIGN(schedule.network.bits_per_second, bits_of(options.rate));
  if (options.hosts > 1) {
    schedule.ranks.clear();
    for (const int per_host : options.per_host) schedule.ranks.push_back(options.hosts * per_host);
    if (!kTuttiCrossesHosts) fmt::print(stderr, "peers only: communicators do not reach across hosts yet\n");
  }
  for (const Rank ranks : schedule.ranks) {
    if (ranks < 2 || ranks > 64) return invalid_argument(fmt::format("{} processes; give 2 to 64", ranks));
  }
  return {};
}

Result<Schedule> schedule_of(const Options& options) {
  Schedule schedule;
  schedule.folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  TUTTI_TRY(place_ranks(options, schedule));
  TUTTI_ASSIGN(schedule.collectives, collectives_of(options.collectives));
  TUTTI_ASSIGN(schedule.sizes, sizes_of(options.is_quick ? "8,4K,256K,1M,16M" : options.sizes));
  TUTTI_ASSIGN(schedule.contenders, contenders_of(options, schedule.folder));
  schedule.repeats = options.is_quick ? 2 : options.repeats;
  schedule.seconds = options.is_quick ? std::min(0.03, options.seconds) : options.seconds;
  schedule.limit_s = options.limit_s;
  return schedule;
}

Status compare(const Options& options, Report& report) {
  TUTTI_ASSIGN(const Schedule schedule, schedule_of(options));
  report.network = schedule.network;
  return run_rounds(schedule, report);
}

void print(const Report& report, bool has_times) {
  const std::string ratios = ratio_tables(report);
  if (has_times || ratios.empty()) fmt::print("{}", time_tables(report));
  fmt::print("{}{}", ratios, footer(report));
}

// Tutti's own failures and wrong results; those of peers are only told.
bool has_tutti_failed(const Report& report) {
  const auto is_ours = [](const Failure& failure) { return failure.contender.starts_with("tutti"); };
  return report.samples.wrong_count(kTuttiMalloc) + report.samples.wrong_count(kTuttiAllocated) > 0 ||
         std::any_of(report.failures.begin(), report.failures.end(), is_ours);
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app(
      "Times Tutti and the other libraries on this machine, interleaved, and prints ratios: best peer / Tutti.",
      "bench/compare");
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, argument_count, arguments);
  catch_interruptions();
  Report report;
  report.facts = facts_of({arguments, arguments + argument_count});
  const Status status = compare(options, report);
  if (!report.samples.cases().empty()) print(report, options.has_times);
  if (!options.json.empty() && !(std::ofstream(options.json) << json_text(report))) {
    fmt::print(stderr, "{} cannot be written\n", options.json);
    return 1;
  }
  if (!status) fmt::print(stderr, "{}\n", status.text());
  return status && !has_tutti_failed(report) ? 0 : 1;
}
