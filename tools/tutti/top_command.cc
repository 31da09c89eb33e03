// `tutti top`: what the ranks of a running job are doing, again and again.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <limits>
#include <map>
#include <string>

#include "launch/control/client.h"
#include "launch/control/folder.h"
#include "os/clock.h"
#include "tools/tutti/command.h"
#include "tools/tutti/plan_options.h"
#include "tools/tutti/top/session.h"

namespace tutti::tool {

namespace {

namespace control = launch::control;

constexpr std::chrono::seconds kPatience{15};  // longer than the launcher gives its hosts
constexpr std::size_t kColumnsWithoutTerminal = 160;

struct TopOptions {
  std::string name = {};
  double interval_s = 1;
  std::string order = "rank";
  bool is_once = false;
  bool is_json = false;
};

top::Order order_of(const std::string& name) {
  static const std::map<std::string, top::Order> kOrders = {{"rank", top::Order::rank},
                                                            {"cpu", top::Order::cpu},
                                                            {"memory", top::Order::memory},
                                                            {"waiting", top::Order::waiting}};
  return kOrders.at(name);
}

std::size_t columns_of_output() {
  winsize found{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_col > 0 ? found.ws_col : kColumnsWithoutTerminal;
}

// Blanks that fill the last column help nobody who reads a file.
std::string_view without_blanks(std::string_view line) {
  const std::size_t last = line.find_last_not_of(' ');
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

int print_once(control::Client& client, const TopOptions& options) {
  const auto answer = client.ask({.ask = control::Ask::samples}, Deadline::after(os::now(), kPatience));
  if (!answer) return fail(answer.status());
  if (!answer->job) return fail({Code::internal, "the launcher has answered without a job"});
  const Time now = os::now();
  if (options.is_json) {
    fmt::print("{}", control::json_of(*answer->job, now, 1));
    return kExitDone;
  }
  const top::View view{.size = {columns_of_output(), std::numeric_limits<std::size_t>::max()},
                       .order = order_of(options.order),
                       .has_footer = false};
  for (const top::Line& line : frame_of(*answer->job, view, now)) fmt::print("{}\n", without_blanks(line.text));
  return kExitDone;
}

int watch(control::Client client, const std::string& name, const TopOptions& options) {
  const auto interval =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.interval_s));
  Result<top::SessionEnd> end{top::SessionEnd{}};
  {
    top::Session session(std::move(client), interval, order_of(options.order));
    end = session.run();
  }
  if (!end) return fail(end.status());
  if (end->by == top::EndedBy::job) fmt::print("job '{}' has ended\n", name);
  if (end->by == top::EndedBy::signal) {
    std::signal(end->signal, SIG_DFL);
    std::raise(end->signal);
  }
  return kExitDone;
}

int run_top(const TopOptions& options) {
  const auto job = control::choose_job(control::find_jobs(control::job_folders()), options.name);
  if (!job) return fail(job.status());
  auto client = control::Client::connect(job->path, Deadline::after(os::now(), kPatience));
  if (!client) return fail(client.status());
  if (options.is_once || options.is_json) return print_once(*client, options);
  return watch(*std::move(client), job->name, options);
}

}  // namespace

void add_top_command(CLI::App& root, Commands& commands) {
  const auto add_options = [](CLI::App& command, TopOptions& options) {
    command.add_option("NAME", options.name,
                       "A job, by its name in 'tutti ps' or the beginning of it; needed when "
                       "several run");
    command.add_option("-d,--interval", options.interval_s, "Seconds from one look to the next")
        ->type_name("SECONDS")
        ->capture_default_str()
        ->check(CLI::Range(0.1, 3600.0));
    command.add_option("--sort", options.order, "Which ranks come first")
        ->check(one_of({"rank", "cpu", "memory", "waiting"}))
        ->type_name("ORDER")
        ->capture_default_str();
    command.add_flag("--once", options.is_once, "Print all ranks once and end");
    command.add_flag("--json", options.is_json, "The same as JSON (share/schemas/job.schema.json)");
  };
  commands.add<TopOptions>(root,
                           {"top", "Watch a running job: what each rank is doing and whom it waits for.",
                            "tutti top\ntutti top train -d 0.5\ntutti top train --sort waiting --once\ntutti top train "
                            "--json"},
                           add_options, run_top);
}

}  // namespace tutti::tool
