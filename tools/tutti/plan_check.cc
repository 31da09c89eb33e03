#include "tools/tutti/plan_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.h"
#include "tools/tutti/plan_options.h"
#include "tutti/prove.h"

namespace tutti::tool {

namespace {

struct CheckCommandOptions {
  ShapeOptions shape;
  std::string file;
  bool all = false;
  std::string ranks = "4";
  std::string lanes = "1";
};

struct Range {
  std::int32_t first;
  std::int32_t last;
};

Result<Range> range_of(const std::string& flag, const std::string& text, std::int32_t limit) {
  const std::size_t dash = text.find('-');
  const auto first = text::integer_of<std::int32_t>(text.substr(0, dash));
  const auto last = dash == std::string::npos ? first : text::integer_of<std::int32_t>(text.substr(dash + 1));
  if (!first || !last || *first < 1 || *last < *first || *last > limit) {
    return invalid_argument(
        fmt::format("{} {} is not a number or a range such as 1-16, at most {}", flag, text, limit));
  }
  return Range{*first, *last};
}

// One line that moves on a terminal, nothing otherwise.
class Progress {
 public:
  void show(std::string_view text) {
    if (is_terminal_) fmt::print(stderr, "\r\033[K{}", text);
  }
  ~Progress() {
    if (is_terminal_) fmt::print(stderr, "\r\033[K");
  }
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  bool is_terminal_ = isatty(STDERR_FILENO) == 1;
};

int check_all(const CheckCommandOptions& options) {
  constexpr std::int32_t kRanksMax = 256;
  constexpr std::int32_t kLanesMax = 16;
  const auto ranks = range_of("--ranks", options.ranks, kRanksMax);
  if (!ranks) return refuse(ranks.status());
  // Unless told otherwise, all lane counts that plans commonly have.
  const auto lanes = range_of("--lanes", options.lanes == "1" ? "1-4" : options.lanes, kLanesMax);
  if (!lanes) return refuse(lanes.status());
  std::uint64_t proved = 0;
  std::optional<std::string> fault;
  Progress progress;
  for (Rank n = ranks->first; n <= ranks->last && !fault; ++n) {
    for (std::int32_t lane_count = lanes->first; lane_count <= lanes->last && !fault; ++lane_count) {
      progress.show(fmt::format("{} ranks, {} lanes: {} plans proved", n, lane_count, proved));
      plan::for_each_case(n, static_cast<std::uint32_t>(lane_count), [&](const plan::Case& proof) {
        if (const auto found = plan::prove(proof)) fault = fmt::format("{}: {}", proof.text(), *found);
        ++proved;
        return !fault;
      });
    }
  }
  progress.show("");
  if (fault) {
    fmt::print(stderr, "tutti: {}\n", *fault);
    return kExitFailed;
  }
  fmt::print("proved {} plans: {} algorithms, {} to {} ranks, {} to {} lanes\n", proved, plan::algorithms().size(),
             ranks->first, ranks->last, lanes->first, lanes->last);
  return kExitDone;
}

Result<plan::Plan> build_one(const CheckCommandOptions& options) {
  ShapeOptions shape = options.shape;
  TUTTI_ASSIGN(const Range ranks, range_of("--ranks", options.ranks, 1 << 20));
  TUTTI_ASSIGN(const Range lanes, range_of("--lanes", options.lanes, 256));
  if (ranks.first != ranks.last || lanes.first != lanes.last) {
    return invalid_argument("a range of --ranks or --lanes needs --all");
  }
  shape.ranks = ranks.first;
  shape.lanes = static_cast<std::uint32_t>(lanes.first);
  return build_plan(shape);
}

int check_one(const CheckCommandOptions& options) {
  const bool is_read = !options.file.empty();
  const auto plan = is_read ? read_plan(options.file) : build_one(options);
  if (!plan) return is_read ? fail(plan.status()) : refuse(plan.status());
  const auto result = plan::check(*plan, {.in_place = options.shape.in_place});
  const std::string name =
      fmt::format("{} {} over {} ranks", plan->algorithm, plan::name_of(plan->collective), plan->ranks);
  if (const auto* fault = std::get_if<plan::Fault>(&result)) {
    fmt::print(stderr, "tutti: {}: {}\n", name, fault->text());
    return kExitFailed;
  }
  const auto& proof = std::get<plan::Proof>(result);
  fmt::print("proved {}: {} steps, {} messages, {} reaches; needs {} slot{} a pipe\n", name, proof.steps,
             proof.messages, proof.reaches, proof.slots, proof.slots == 1 ? "" : "s");
  return kExitDone;
}

}  // namespace

void add_plan_check_command(CLI::App& group, Commands& commands) {
  commands.add<CheckCommandOptions>(
      group,
      {"check", "Prove that a plan cannot block, race or compute anything else; exit 1 names the fault.",
       "tutti plan check my.plan\n"
       "tutti plan check --collective all_reduce --algorithm ring --ranks 8 --lanes 2 --in-place\n"
       "tutti plan check --all --ranks 1-16"},
      [](CLI::App& command, CheckCommandOptions& options) {
        command.add_option("FILE", options.file, "The plan to check, instead of building one")->type_name("FILE");
        command.add_flag("--all", options.all, "Every algorithm in every shape it fits");
        add_shape_options(command, options.shape);
        command.remove_option(command.get_option("--ranks"));
        command.remove_option(command.get_option("--lanes"));
        command.add_option("--ranks", options.ranks, "How many ranks take part; a range with --all")
            ->type_name("N[-N]")
            ->capture_default_str();
        command.add_option("--lanes", options.lanes, "Lanes that share the data; a range with --all (there 1-4)")
            ->type_name("N[-N]");
      },
      [](const CheckCommandOptions& options) { return options.all ? check_all(options) : check_one(options); });
}

}  // namespace tutti::tool
