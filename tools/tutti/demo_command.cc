// `tutti demo`: starts ranks as processes and shows what their all-reduces take.
#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "base/text.h"
#include "tools/tutti/command.h"
#include "tools/tutti/demo_rank.h"
#include "tools/tutti/plan_options.h"
#include "tools/tutti/ranks.h"

namespace tutti::tool {

namespace {

constexpr Rank kRanksMax = 128;

Status validate(const DemoOptions& options) {
  if (options.ranks < 1 || options.ranks > kRanksMax) {
    return invalid_argument(fmt::format("--ranks {} is not possible; 1 to {} are", options.ranks, kRanksMax));
  }
  for (const auto& [name, bytes] :
       {std::pair{"--bytes-min", options.bytes_min}, std::pair{"--bytes-max", options.bytes_max}}) {
    if (bytes == 0 || bytes % sizeof(float) != 0) {
      return invalid_argument(
          fmt::format("{} {} is not a whole number of float32 elements of {} bytes", name, bytes, sizeof(float)));
    }
  }
  if (options.bytes_min > options.bytes_max) {
    return invalid_argument(fmt::format("--bytes-min {} is more than --bytes-max {}",
                                        text::bytes_text(options.bytes_min), text::bytes_text(options.bytes_max)));
  }
  return {};
}

// Ends as the signal would have ended it, now that nothing is left behind.
void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int demo(const DemoOptions& options) {
  if (const Status status = validate(options); !status) return refuse(status);
  RanksEnd end;
  {
    const auto folder = PrivateFolder::create();
    if (!folder) return fail(folder.status());
    const std::string store = fmt::format("file:{}/store", folder->path());
    end = run_ranks(options.ranks, [&](Rank rank) { return run_demo_rank(options, rank, store); });
  }
  if (end.signal != 0) end_by(end.signal);
  return end.status ? kExitDone : fail(end.status);
}

}  // namespace

void add_demo_command(CLI::App& root, Commands& commands) {
  commands.add<DemoOptions>(
      root,
      {"demo", "Run all-reduces over processes of this machine, verify every value and show what they take.",
       "tutti demo\n"
       "tutti demo --ranks 2 --bytes-min 1M --bytes-max 256M\n"
       "tutti demo --memory private"},
      [](CLI::App& command, DemoOptions& options) {
        command.add_option("--ranks", options.ranks, "How many processes; 4 unless given")->type_name("N");
        add_bytes(command, "--bytes-min", options.bytes_min, "The first size; 8 unless given");
        add_bytes(command, "--bytes-max", options.bytes_max, "The last size; 64M unless given");
        command
            .add_option("--memory", options.memory,
                        "Where buffers lie: shared as tutti::allocate gives it, or private; shared unless given")
            ->type_name("KIND")
            ->check(one_of({"shared", "private"}));
      },
      demo);
}

}  // namespace tutti::tool
