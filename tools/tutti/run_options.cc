#include "tools/tutti/run_options.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"
#include "tools/tutti/command.h"

namespace tutti::tool {

namespace {

constexpr double kSecondsMax = 1e8;

std::optional<double> seconds_of(const std::string& value) {
  auto seconds = text::real_of(value);
  if (!seconds) seconds = text::seconds_of(value);
  if (!seconds || !(*seconds >= 0) || *seconds > kSecondsMax) return std::nullopt;
  return seconds;
}

CLI::Option* add_count(CLI::App& command, const std::string& flag, int& number, int least, const std::string& help) {
  return command.add_option(flag, number, help)->type_name("N")->check(CLI::Range(least, 1'000'000));
}

CLI::Option* add_text(CLI::App& command, const std::string& flag, std::string& text, const std::string& type,
                      const std::string& help) {
  return command.add_option(flag, text, help)->type_name(type);
}

void add_places(CLI::App& command, RunOptions& options) {
  add_count(command, "-n,--np", options.ranks, 1, "How many ranks; also written -np. All slots unless given");
  add_text(command, "-H,--hosts,--host", options.hosts, "LIST",
           "Hosts and how many ranks each takes: host1:4,host2:4 or gpu[12-13,20]:4");
  add_text(command, "--hostfile,--machinefile", options.host_file, "FILE",
           "The same from a file, in the form of Open MPI or MPICH");
  add_count(command, "-N,--np-per-node,--ppn", options.ranks_per_host, 1,
            "How many ranks on each host, as -N of Open MPI; not the number of nodes as for srun");
  add_count(command, "--nnodes", options.host_count, 1, "On how many of the hosts");
  command.add_flag("--oversubscribe", options.may_oversubscribe, "Allow more ranks than slots");
  add_text(command, "--launcher", options.launcher, "NAME",
           "How hosts are reached; auto: slurm inside an allocation of several nodes, local where all hosts are this "
           "one, else ssh")
      ->check(one_of({"auto", "local", "ssh", "slurm"}));
}

void add_ways(CLI::App& command, RunOptions& options) {
  add_text(command, "--agent-path", options.agent_path, "PATH", "Where tutti lies on the hosts; as here unless given");
  command.add_option("-p,--ssh-port", options.ssh_port, "The port of the hosts' ssh")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535));
  add_text(command, "-i,--ssh-identity-file", options.ssh_identity, "FILE", "The key for ssh");
  add_list(command, "--ssh-option", options.ssh_options, "An option as after ssh -o; may be given several times")
      ->type_name("NAME=VALUE");
  add_text(command, "--jump", options.jump, "HOST", "A host through which ssh goes: ssh -J");
  command.add_option("--tree-width", options.tree_width, "How many hosts one host starts; 0: this one starts all")
      ->type_name("N")
      ->check(CLI::Range(0, 10'000));
  add_list(command, "--srun-option", options.srun_options, "A word more for srun; may be given several times")
      ->type_name("WORD");
}

void add_gifts(CLI::App& command, RunOptions& options) {
  add_text(command, "--bind", options.bind, "WHAT", "To what each rank is bound")
      ->check(one_of({"none", "core", "numa", "socket"}));
  command.add_flag("--report-bindings", options.reports_bindings, "Say what each rank is bound to");
  add_count(command, "--devices-per-rank", options.devices_per_rank, 0,
            "How many devices CUDA_VISIBLE_DEVICES of each rank names; 0 leaves it alone");
  add_list(command, "-x,--env", options.environment,
           "A variable for the ranks, NAME=VALUE or NAME for its value here; may be given several times")
      ->type_name("NAME");
  add_text(command, "--env-file", options.environment_file, "FILE", "Variables for the ranks, one a line");
  command.add_flag("--no-forward-env", options.forwards_nothing, "Pass on no other variable of this environment");
  add_text(command, "--chdir,--wdir", options.folder, "FOLDER", "Where ranks start; as here unless given");
  command.add_flag("--preload-nccl", options.preloads_nccl, "Run a program written to NCCL on Tutti's libraries");
  add_text(command, "--network-interface,--network-interfaces", options.interfaces, "LIST",
           "Interfaces that the ranks use: TUTTI_SOCKET_IFNAME");
  add_text(command, "--stdin", options.input, "WHO", "Which ranks read the standard input")
      ->check(one_of({"none", "first", "all"}));
}

void add_outputs(CLI::App& command, RunOptions& options) {
  add_text(command, "--tag", options.tag, "FORM", "What is put in front of lines: nothing, [3], or [1,3]<stdout>:")
      ->check(one_of({"none", "rank", "ompi"}));
  command.add_flag("--tag-output", options.has_open_mpi_tags, "The same as --tag ompi");
  add_text(command, "--colour,--color", options.colour, "WHEN", "Whether ranks have colours")
      ->check(one_of({"auto", "always", "never"}));
  command.add_flag("--timestamps", options.has_timestamps, "Put the time in front of lines");
  add_text(command, "--output", options.output, "FOLDER", "Write a file for each rank and stream instead");
  command.add_flag("--tee", options.also_prints, "Print as well as write files");
  add_text(command, "--only", options.only, "RANKS", "Print only what these ranks say: 0,3 or 0-3");
}

void add_ends(CLI::App& command, RunOptions& options) {
  add_seconds(command, "--grace", options.grace_s, "How long ranks have between SIGTERM and SIGKILL");
  add_seconds(command, "--timeout", options.timeout_s, "After how long the job is ended; 0: never");
  add_seconds(command, "--start-timeout", options.start_timeout_s, "How long hosts have to answer");
  add_seconds(command, "--silence", options.silence_s, "After how long without a word a host counts as cut off");
  add_count(command, "--restarts", options.restarts, 0, "How often the job is started again after a failure");
}

void add_elastic(CLI::App& command, RunOptions& options) {
  add_count(command, "--min-np", options.ranks_min, 1, "The job goes on as long as there are so many ranks");
  add_count(command, "--max-np", options.ranks_max, 1, "It grows up to so many");
  add_text(command, "--host-discovery-script", options.discovery_script, "PROGRAM",
           "Prints the hosts that are there now, host:slots a line");
  add_count(command, "--slots-per-host", options.slots_per_host, 1, "Slots of hosts that are named without");
  add_seconds(command, "--elastic-timeout", options.elastic_timeout_s, "How long to wait for enough slots");
  command
      .add_option("--blacklist-cooldown-range", options.cooldown_s,
                  "How long a host that has failed stays out, from the first time to the most, in seconds")
      ->type_name("MIN MAX")
      ->expected(2)
      ->check(CLI::Range(0, 100'000'000));
}

bool is_flag_like(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

// "-np" becomes "--np" where the command has such an option.
void add_dash(const CLI::App& command, std::string& word) {
  if (word.size() < 3 || word[1] == '-') return;
  const std::string longer = "-" + word;
  if (command.get_option_no_throw(longer.substr(0, longer.find('='))) != nullptr) word = longer;
}

}  // namespace

CLI::Option* add_seconds(CLI::App& command, const std::string& flag, double& seconds, const std::string& help) {
  const auto read = [&seconds](const std::string& value) { seconds = seconds_of(value).value_or(seconds); };
  const auto check = [](std::string& value) -> std::string {
    if (seconds_of(value)) return "";
    return fmt::format("'{}' is not a time; write it in seconds, or as 200ms", value);
  };
  CLI::Option* option = command.add_option_function<std::string>(flag, read, help);
  return option->type_name("SECONDS")->check(CLI::Validator(check, ""));
}

CLI::Option* add_list(CLI::App& command, const std::string& flag, std::vector<std::string>& list,
                      const std::string& help) {
  return command.add_option(flag, list, help)->expected(1)->allow_extra_args(false)->take_all();
}

void add_run_options(CLI::App& command, RunOptions& options) {
  add_places(command, options);
  add_ways(command, options);
  add_gifts(command, options);
  add_outputs(command, options);
  add_ends(command, options);
  add_elastic(command, options);
  command.add_flag("--dry-run", options.is_dry, "Print what would be started where, and start nothing");
  command.add_flag("-v,--verbose", options.verbosity, "Say more; twice: still more");
  add_text(command, "--name", options.name, "NAME", "What the job is called; a few letters by chance unless given");
}

std::vector<std::string> take_program(const CLI::App& command, std::vector<std::string>& arguments, std::size_t first) {
  for (std::size_t at = first; at < arguments.size(); ++at) {
    std::string& word = arguments[at];
    if (!is_flag_like(word) || word == "--") {
      const auto begin = arguments.begin() + static_cast<std::ptrdiff_t>(at);
      std::vector<std::string> program(word == "--" ? begin + 1 : begin, arguments.end());
      arguments.erase(begin, arguments.end());
      return program;
    }
    add_dash(command, word);
    const bool is_long = word.starts_with("--");
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr || name == "--help" || name == "-h") return {};  // whoever parses says so
    const bool has_value = is_long ? word.size() > name.size() : word.size() > 2;
    if (!has_value) at += static_cast<std::size_t>(option->get_items_expected_min());
  }
  return {};
}

}  // namespace tutti::tool
