// `horovodrun`: its flags, with the same meaning, for `tutti run`.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <map>

#include "base/text.h"
#include "launch/start/link.h"
#include "os/error_text.h"
#include "tools/tutti/horovod_config.h"
#include "tools/tutti/plan_options.h"
#include "tools/tutti/run_command.h"
#include "tutti/version.h"

namespace tutti::tool {

namespace {

struct HorovodOptions {
  RunOptions run = {};
  std::map<std::string, std::string> variables = {};  // what tuning flags become
  bool checks_build = false;
  std::string config_file = {};
  std::vector<std::string> without_meaning = {};
};

using Text = std::function<std::string(const std::string&)>;

std::string same(const std::string& value) { return value; }
std::string bytes_of_mebibytes(const std::string& value) {
  return std::to_string(text::integer_of<std::int64_t>(value).value_or(0) << 20);
}

struct Tuned {
  std::string_view flag;
  std::string_view variable;
  std::string_view help;
};

constexpr std::array kNumbers = {
    Tuned{"--cycle-time-ms", "HOROVOD_CYCLE_TIME", "Time between looks at what is to be sent"},
    Tuned{"--cache-capacity", "HOROVOD_CACHE_CAPACITY", "How many tensors are remembered"},
    Tuned{"--autotune-log-file", "HOROVOD_AUTOTUNE_LOG", "Where tuning is written to"},
    Tuned{"--autotune-warmup-samples", "HOROVOD_AUTOTUNE_WARMUP_SAMPLES", "Samples that do not count"},
    Tuned{"--autotune-steps-per-sample", "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE", "Steps of a sample"},
    Tuned{"--autotune-bayes-opt-max-samples", "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES", "Samples at most"},
    Tuned{"--autotune-gaussian-process-noise", "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE", "Noise of the model"},
    Tuned{"--timeline-filename", "HOROVOD_TIMELINE", "Where the timeline is written to"},
    Tuned{"--stall-check-warning-time-seconds", "HOROVOD_STALL_CHECK_TIME_SECONDS", "When a late rank is told of"},
    Tuned{"--stall-check-shutdown-time-seconds", "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "When it ends the job"},
    Tuned{"--num-nccl-streams", "HOROVOD_NUM_NCCL_STREAMS", "Streams"},
    Tuned{"--thread-affinity", "HOROVOD_THREAD_AFFINITY", "Cores of the background threads"},
    Tuned{"--gloo-timeout-seconds", "HOROVOD_GLOO_TIMEOUT_SECONDS", "How long ranks wait for each other"},
    Tuned{"--log-level", "HOROVOD_LOG_LEVEL", "TRACE, DEBUG, INFO, WARNING, ERROR or FATAL"},
};

// A flag and the same with "no-".
constexpr std::array kSwitches = {
    Tuned{"hierarchical-allreduce", "HOROVOD_HIERARCHICAL_ALLREDUCE", "All-reduce in and between hosts"},
    Tuned{"hierarchical-allgather", "HOROVOD_HIERARCHICAL_ALLGATHER", "All-gather in and between hosts"},
    Tuned{"torus-allreduce", "HOROVOD_TORUS_ALLREDUCE", "All-reduce along a torus"},
    Tuned{"autotune", "HOROVOD_AUTOTUNE", "Tune while it runs"},
    Tuned{"timeline-mark-cycles", "HOROVOD_TIMELINE_MARK_CYCLES", "Cycles in the timeline"},
    Tuned{"mpi-threads-disable", "HOROVOD_MPI_THREADS_DISABLE", "No threads for MPI"},
};

CLI::Option* add_tuned(CLI::App& app, HorovodOptions& options, const Tuned& tuned, const Text& text = same) {
  const auto read = [&options, tuned, text](const std::string& value) {
    options.variables[std::string(tuned.variable)] = text(value);
  };
  return app.add_option_function<std::string>(std::string(tuned.flag), read, std::string(tuned.help))
      ->type_name("VALUE");
}

void add_switch(CLI::App& app, HorovodOptions& options, std::string flag, std::string_view variable, std::string value,
                std::string_view help) {
  const auto read = [&options, name = std::string(variable), value](std::int64_t) { options.variables[name] = value; };
  app.add_flag_function(std::move(flag), read, std::string(help));
}

void add_tuning(CLI::App& app, HorovodOptions& options) {
  add_tuned(app, options, {"--fusion-threshold-mb", "HOROVOD_FUSION_THRESHOLD", "Size of the fusion buffer"},
            bytes_of_mebibytes)
      ->type_name("MEBIBYTES")
      ->check(CLI::Range(0, 1 << 20));
  for (const Tuned& tuned : kNumbers) add_tuned(app, options, tuned);
  for (const Tuned& tuned : kSwitches) {
    add_switch(app, options, fmt::format("--{}", tuned.flag), tuned.variable, "1", tuned.help);
    add_switch(app, options, fmt::format("--no-{}", tuned.flag), tuned.variable, "0", tuned.help);
  }
  constexpr std::string_view kStall = "HOROVOD_STALL_CHECK_DISABLE";
  add_switch(app, options, "--no-stall-check", kStall, "1", "Say nothing of late ranks");
  add_switch(app, options, "--stall-check", kStall, "0", "Say which ranks are late");
  constexpr std::string_view kHidden = "HOROVOD_LOG_HIDE_TIME";
  add_switch(app, options, "--log-with-timestamp", kHidden, "0", "The time in the log");
  add_switch(app, options, "--log-without-timestamp,--log-hide-timestamp", kHidden, "1", "No time in the log");
  add_switch(app, options, "--tcp", "NCCL_IB_DISABLE", "1", "No InfiniBand");
}

void add_basics(CLI::App& app, HorovodOptions& options) {
  RunOptions& run = options.run;
  app.set_version_flag("-v,--version", "tutti " TUTTI_VERSION, "Print the version and exit");
  app.add_option("-n,--np,--num-proc", run.ranks, "How many ranks; also written -np")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("-H,--hosts", run.hosts, "Hosts and their slots: host1:4,host2:4")->type_name("LIST");
  app.add_option("--hostfile", run.host_file, "The same from a file: 'host slots=4' a line")->type_name("FILE");
  app.add_option("-p,--ssh-port", run.ssh_port, "The port of the hosts' ssh")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535));
  app.add_option("-i,--ssh-identity-file", run.ssh_identity, "The key for ssh")->type_name("FILE");
  app.add_option("--network-interface,--network-interfaces", run.interfaces, "Interfaces that the ranks use")
      ->type_name("LIST");
  app.add_option("--output-filename", run.output, "A folder for rank.0/stdout, rank.0/stderr and so on")
      ->type_name("FOLDER");
  app.add_flag("--prefix-timestamp,--prefix-output-with-timestamp", run.has_timestamps,
               "Put the time in front of lines");
  add_seconds(app, "--start-timeout", run.start_timeout_s, "How long hosts have to answer");
  app.add_flag("--verbose", run.verbosity, "Say more");
  app.add_flag("--cb,--check-build", options.checks_build, "Print what this build has, and exit");
  app.add_option("--config-file", options.config_file, "More options, in YAML")->type_name("FILE");
  app.add_flag("--dry-run", run.is_dry, "Print what would be started where, and start nothing");
}

void add_elastic(CLI::App& app, HorovodOptions& options) {
  RunOptions& run = options.run;
  const auto add = [&](const std::string& flag, int& number, const std::string& help) {
    app.add_option(flag, number, help)->type_name("N")->check(CLI::Range(0, 1'000'000));
  };
  add("--min-np,--min-num-proc", run.ranks_min, "The job goes on as long as there are so many ranks");
  add("--max-np,--max-num-proc", run.ranks_max, "It grows up to so many");
  add("--slots-per-host", run.slots_per_host, "Slots of hosts that are named without");
  add("--reset-limit", run.restarts, "How often it is started again");
  add_seconds(app, "--elastic-timeout", run.elastic_timeout_s, "How long to wait for enough slots");
  app.add_option("--host-discovery-script", run.discovery_script, "Prints the hosts that are there now")
      ->type_name("PROGRAM");
  app.add_option("--blacklist-cooldown-range", run.cooldown_s, "How long a host that has failed stays out, in seconds")
      ->type_name("MIN MAX")
      ->expected(2);
}

void add_meaningless(CLI::App& app, HorovodOptions& options) {
  const auto note = [&options](std::string flag) { options.without_meaning.push_back(std::move(flag)); };
  for (const char* flag : {"--mpi", "--gloo", "--jsrun", "--disable-cache"}) {
    app.add_flag_function(
        flag, [note, flag](std::int64_t) { note(flag); }, "Without a meaning here");
  }
  for (const char* flag : {"--mpi-args", "--binding-args"}) {
    app.add_option_function<std::string>(
           flag, [note, flag](const std::string&) { note(flag); }, "Without a meaning here")
        ->type_name("WORDS");
  }
}

// What a configuration says comes first, so that the command line wins.
std::optional<int> add_config(CLI::App& app, HorovodOptions& options, std::vector<std::string>& arguments) {
  const auto text = read_text(options.config_file);
  const auto more = text ? parse_horovod_config(*text) : Result<std::vector<std::string>>(text.status());
  if (!more) {
    const std::string doing = text ? fmt::format("reading {}", options.config_file) : "--config-file";
    fmt::print(stderr, "horovodrun: {}\n", more.status().while_doing(doing).text());
    return kExitUsage;
  }
  arguments.insert(arguments.begin(), more->begin(), more->end());
  options = {};
  app.clear();
  std::vector<std::string> program;
  return parse_line(app, arguments, program);
}

int show_build_table() {
  const std::string self = launch::own_program();
  ::execl(self.c_str(), "tutti", "check", "--build", nullptr);
  fmt::print(stderr, "horovodrun: cannot run {}: {}\n", self, os::error_text(errno));
  return kExitFailed;
}

}  // namespace

int horovodrun(std::vector<std::string> arguments) {
  HorovodOptions options;
  CLI::App app("Start the ranks of a job as horovodrun does, with Tutti's launcher.", "horovodrun");
  app.footer("Examples:\n  horovodrun -np 4 python train.py\n  horovodrun -np 8 -H host1:4,host2:4 python train.py");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_basics(app, options);
  add_elastic(app, options);
  add_tuning(app, options);
  add_meaningless(app, options);
  std::vector<std::string> program;
  if (const auto code = parse_line(app, arguments, program)) return *code;
  if (!options.config_file.empty()) {
    if (const auto code = add_config(app, options, arguments)) return *code;
  }
  if (options.checks_build) return show_build_table();
  for (const std::string& flag : options.without_meaning) {
    fmt::print(stderr, "horovodrun: {} has no meaning here: ranks need no MPI, and meet through Tutti\n", flag);
  }
  RunOptions run = options.run;
  for (const auto& [name, value] : options.variables) run.environment.push_back(fmt::format("{}={}", name, value));
  run.program = std::move(program);
  run.tag = "ompi";
  run.has_horovod_files = true;
  if (!run.output.empty()) run.also_prints = true;  // as horovodrun does
  return run_job(run, "horovodrun");
}

}  // namespace tutti::tool
