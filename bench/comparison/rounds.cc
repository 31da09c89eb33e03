#include "bench/comparison/rounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "bench/comparison/hosts.h"
#include "bench/comparison/load.h"
#include "tests/network/lab/lab.h"

namespace tutti::bench {

namespace {

using lab::Lab;
using plan::Collective;

constexpr std::uint64_t kBoundBytesMin = 1 << 20;  // below, a call is mostly waiting
constexpr std::chrono::seconds kGrace(3);          // for daemons of launchers to end

// What all runs share.
struct Place {
  const Schedule& schedule;
  std::string scratch;     // a folder that goes when all is over
  std::optional<Lab> lab;  // nothing: ranks run on this machine
};

// The sizes that a contender is measured at; none: it takes no part.
std::vector<std::uint64_t> sizes_for(const Schedule& schedule, const Contender& contender, Collective collective) {
  if (collective == Collective::barrier) return {0};
  std::vector<std::uint64_t> sizes;
  if (contender.name == kBound && collective != Collective::all_reduce) return sizes;
  std::copy_if(schedule.sizes.begin(), schedule.sizes.end(), std::back_inserter(sizes), [&](std::uint64_t bytes) {
    return bytes <= contender.bytes_max && (contender.name != kBound || bytes >= kBoundBytesMin);
  });
  return sizes;
}

void note_version(const Contender& contender, std::string_view output, Facts& facts) {
  if (!output.starts_with("# ")) return;
  facts.versions[contender.library] = output.substr(2, output.find('\n') - 2);
}

// The last line that the programs wrote to stderr: the rest is decoration of launchers.
std::string reason_of(const Outcome& outcome, double limit_s) {
  if (outcome.is_late && outcome.is_complete) return "gave its results, but did not end";
  if (outcome.is_late) return fmt::format("stopped after {:.0f} s; see --limit", limit_s);
  std::string reason = fmt::format("exit code {}", outcome.exit_code);
  const std::string_view errors = text::trim(outcome.errors);
  if (!errors.empty()) reason += fmt::format(": {}", errors.substr(0, errors.find('\n')));
  return reason;
}

Result<Lab> create_lab(const Network& network) {
  TUTTI_TRY(Lab::is_possible());
  const lab::Rail rail{.bits_per_second = network.bits_per_second, .mtu = network.mtu};
  TUTTI_ASSIGN(Lab lab, Lab::create({.host_count = network.host_count,
                                     .rails = std::vector(static_cast<std::size_t>(network.rail_count), rail)}));
  std::vector<pid_t> keepers;
  for (int host = 0; host < network.host_count; ++host) keepers.push_back(lab.keeper(host));
  setenv("TUTTI_LAB", fmt::format("{}", fmt::join(keepers, ",")).c_str(), 1);
  // Daemons of launchers become our children when their parents end, so that what they used counts as ours.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  return lab;
}

// Launchers leave daemons on other hosts; the next run begins when they have gone.
Result<Outcome> run_across_hosts(Place& place, const Contender& contender, const Request& request,
                                 const std::string& store) {
  const Schedule& schedule = place.schedule;
  TUTTI_TRY(place.lab->set_congestion_control(contender.congestion_control));
  const LoadMeter load;
  auto commands = commands_across_hosts(contender, request, schedule.network, schedule.folder, store);
  for (Command& command : commands) command.environment["TMPDIR"] = place.scratch;
  TUTTI_ASSIGN(Outcome outcome, run_together(commands, schedule.limit_s));
  place.lab->clear(kGrace);
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  outcome.foreign_cores = load.foreign_cores();
  return outcome;
}

Status run_once(Place& place, const Contender& contender, const Request& request, Report& report) {
  const Schedule& schedule = place.schedule;
  const std::filesystem::path store = std::filesystem::path(place.scratch) / "store";
  if (contender.library == "gloo") std::filesystem::create_directory(store);
  const auto ended =
      place.lab ? run_across_hosts(place, contender, request, store.string())
                : run_together(commands_of(contender, request, schedule.folder, store.string()), schedule.limit_s);
  std::error_code ignored;  // Tutti's last rank has removed its own
  std::filesystem::remove_all(store, ignored);
  if (!ended) return ended.status();
  const Outcome& outcome = *ended;
  std::string title = fmt::format("{}, {} ranks, {}", plan::name_of(request.collective), request.ranks, contender.name);
  report.samples.add_output(outcome.output, contender.name);
  note_version(contender, outcome.output, report.facts);
  if (outcome.is_late || outcome.exit_code != 0) {
    title += fmt::format(": {}", reason_of(outcome, schedule.limit_s));
    report.failures.push_back({contender.name, title});
  }
  report.foreign_cores.push_back(outcome.foreign_cores);
  fmt::print(stderr, "{} ({:.1f} s)\n", title, outcome.wall_s);
  return {};
}

// One repeat of everything; who comes first changes from repeat to repeat.
Status run_round(Place& place, int repeat, Report& report) {
  const Schedule& schedule = place.schedule;
  for (const Rank ranks : schedule.ranks) {
    for (const Collective collective : schedule.collectives) {
      std::vector<Contender> contenders = contenders_for(schedule.contenders, ranks, collective);
      if (contenders.empty()) continue;
      std::rotate(contenders.begin(), contenders.begin() + repeat % static_cast<int>(contenders.size()),
                  contenders.end());
      for (const Contender& contender : contenders) {
        Request request{.collective = collective, .sizes = sizes_for(schedule, contender, collective)};
        if (request.sizes.empty()) continue;
        request.seconds = schedule.seconds;
        request.ranks = ranks;
        fmt::print(stderr, "repeat {}/{}: ", repeat + 1, schedule.repeats);
        TUTTI_TRY(run_once(place, contender, request, report));
      }
    }
  }
  return {};
}

Status run_all(Place& place, Report& report) {
  if (place.schedule.network.host_count > 1) {
    TUTTI_ASSIGN(Lab lab, create_lab(place.schedule.network));
    place.lab.emplace(std::move(lab));
  }
  for (int repeat = 0; repeat < place.schedule.repeats; ++repeat) TUTTI_TRY(run_round(place, repeat, report));
  return {};
}

}  // namespace

Status run_rounds(const Schedule& schedule, Report& report) {
  std::string scratch = (std::filesystem::temp_directory_path() / "tutti-compare-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) {
    return {Code::internal, fmt::format("no folder like {} can be made", scratch)};
  }
  Place place{.schedule = schedule, .scratch = scratch, .lab = std::nullopt};
  const Status status = run_all(place, report);
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);
  return status;
}

}  // namespace tutti::bench
