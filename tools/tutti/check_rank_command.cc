// `tutti check-rank`: what `tutti check -H` starts on every host. Not for people.
#include "tools/tutti/check/rank_program.h"
#include "tools/tutti/command.h"

namespace tutti::tool {

namespace {

struct CheckRankOptions {
  int bandwidth_ms = 200;
  int limit_s = 120;
};

int run_check_rank(const CheckRankOptions& options) {
  check::RankOptions rank{.limit = std::chrono::seconds(options.limit_s)};
  rank.effort.bandwidth_time = std::chrono::milliseconds(options.bandwidth_ms);
  return check::run_rank(rank);
}

}  // namespace

void add_check_rank_command(CLI::App& root, Commands& commands) {
  const auto add_options = [](CLI::App& command, CheckRankOptions& options) {
    command.add_option("--bandwidth-ms", options.bandwidth_ms, "How long each direction of a pair is measured")
        ->check(CLI::Range(1, 10'000));
    command.add_option("--limit-s", options.limit_s, "How long all pairs may take")->check(CLI::Range(1, 86'400));
  };
  CLI::App& command = commands.add<CheckRankOptions>(
      root,
      {"check-rank", "Look at this host and measure with the other hosts of 'tutti check -H'.", "tutti check -H a,b"},
      add_options, run_check_rank);
  command.group("");  // hidden
}

}  // namespace tutti::tool
