// `torchrun`: its main flags for `tutti run`.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "os/environment.h"
#include "os/machine.h"
#include "os/nvidia_devices.h"
#include "tools/tutti/run_command.h"
#include "tutti/status.h"

namespace tutti::tool {

namespace {

namespace fs = std::filesystem;

struct TorchOptions {
  RunOptions run = {};
  std::string ranks_per_host = "1";
  std::string host_count = "1";
  int node_rank = 0;
  std::string master_address = {};
  int master_port = 0;
  std::string job = {};
  std::string role = {};
  std::string log_folder = {};
  std::string redirects = "0";
  std::string tee = "0";
  std::string filter = {};
  bool is_module = false;
  bool has_no_python = false;
  bool is_standalone = false;
  std::vector<std::string> ignored = {};
};

Result<int> ranks_per_host_of(const std::string& text) {
  const int devices = text == "auto" || text == "gpu" ? os::count_nvidia_devices() : 0;
  if (text == "cpu" || (text == "auto" && devices == 0)) return os::this_machine().usable_cores;
  if (text == "auto" || (text == "gpu" && devices > 0)) return devices;
  if (text == "gpu") return invalid_argument("--nproc-per-node gpu: this host has no /dev/nvidia0; give a number");
  const auto number = text::integer_of<int>(text);
  if (number && *number >= 1 && *number <= 65'536) return *number;
  return invalid_argument(
      fmt::format("--nproc-per-node '{}' is no number from 1 to 65536, nor auto, gpu or cpu", text.substr(0, 40)));
}

struct HostRange {
  int least = 1;
  int most = 1;
};

Result<HostRange> hosts_of(const std::string& text) {
  const auto colon = text.find(':');
  const auto least = text::integer_of<int>(std::string_view(text).substr(0, colon));
  const auto most =
      colon == std::string::npos ? least : text::integer_of<int>(std::string_view(text).substr(colon + 1));
  if (least && most && *least >= 1 && *least <= *most && *most <= 100'000) return HostRange{*least, *most};
  return invalid_argument(
      fmt::format("--nnodes '{}' is no number of hosts; write 2, or 1:4 for one to four", text.substr(0, 40)));
}

// PYTHON_EXEC as torchrun has it, or the first of python and python3 that is there.
std::string python() {
  if (auto chosen = os::environment_variable("PYTHON_EXEC"); chosen && !chosen->empty()) return *chosen;
  const std::string path = os::environment_variable("PATH").value_or("/usr/bin:/bin");
  for (const std::string_view folder : text::split(path, ':')) {
    std::error_code error;
    if (fs::exists(fs::path(folder) / "python", error)) return "python";
  }
  return "python3";
}

void add_options(CLI::App& app, TorchOptions& options) {
  app.add_option("--nproc-per-node", options.ranks_per_host, "Ranks on each host: a number, auto, gpu or cpu");
  app.add_option("--nnodes", options.host_count, "Hosts: a number, or the least and the most as 1:4");
  app.add_option("-H,--hosts", options.run.hosts, "The hosts, which torchrun itself is not told")->type_name("LIST");
  app.add_option("--hostfile", options.run.host_file, "The same from a file")->type_name("FILE");
  app.add_flag("--standalone", options.is_standalone, "All on this host");
  app.add_option("--node-rank", options.node_rank, "Has to be 0: all hosts are started from here");
  app.add_option("--master-addr", options.master_address, "MASTER_ADDR; rank 0's host unless given");
  app.add_option("--master-port", options.master_port, "MASTER_PORT; a free one unless given")
      ->check(CLI::Range(1, 65535));
  app.add_option("--rdzv-id", options.job, "The name of the job");
  app.add_option("--role", options.role, "ROLE_NAME");
  app.add_option("--max-restarts", options.run.restarts, "How often the job is started again after a failure")
      ->check(CLI::Range(0, 1'000'000));
  app.add_flag("-m,--module", options.is_module, "The script is the name of a module");
  app.add_flag("--no-python", options.has_no_python, "The script is a program");
  app.add_option("--log-dir", options.log_folder, "Where the files of -r and -t go");
  app.add_option("-r,--redirects", options.redirects, "Write files instead of printing: 1, 2 or 3");
  app.add_option("-t,--tee", options.tee, "Write files and print: 1, 2 or 3");
  app.add_option("--local-ranks-filter", options.filter, "Print only what these ranks say");
  app.add_flag("--dry-run", options.run.is_dry, "Print what would be started where, and start nothing");
  for (const char* flag :
       {"--rdzv-backend", "--rdzv-endpoint", "--rdzv-conf", "--start-method", "--monitor-interval", "--local-addr",
        "--logs-specs", "--event-log-handler", "--signals-to-handle", "--numa-binding"}) {
    app.add_option_function<std::string>(
        flag, [&options, flag](const std::string&) { options.ignored.emplace_back(flag); }, "Without a meaning here");
  }
}

// torchrun takes --nproc_per_node and --nproc-per-node for the same.
void replace_underscores(std::vector<std::string>& arguments) {
  for (std::string& word : arguments) {
    if (!word.starts_with('-')) continue;
    const auto end = word.begin() + static_cast<std::ptrdiff_t>(std::min(word.find('='), word.size()));
    std::replace(word.begin(), end, '_', '-');
  }
}

void add_output(const TorchOptions& options, RunOptions& run) {
  const bool writes = options.redirects != "0" || options.tee != "0";
  run.tag = options.tee != "0" ? "rank" : "none";
  if (!writes) return;
  run.output = options.log_folder.empty() ? "torchrun-logs" : options.log_folder;
  run.also_prints = options.tee != "0";
}

void add_environment(const TorchOptions& options, RunOptions& run) {
  const auto add = [&](std::string_view name, const std::string& value) {
    run.environment.push_back(fmt::format("{}={}", name, value));
  };
  if (!options.master_address.empty()) add("MASTER_ADDR", options.master_address);
  if (options.master_port > 0) add("MASTER_PORT", std::to_string(options.master_port));
  if (!options.role.empty()) add("ROLE_NAME", options.role);
  // Many ranks that each use all cores would be slower than one; torchrun decides the same.
  if (run.ranks_per_host > 1 && !os::environment_variable("OMP_NUM_THREADS")) add("OMP_NUM_THREADS", "1");
}

Result<RunOptions> run_options_of(const TorchOptions& options, const std::vector<std::string>& script) {
  RunOptions run = options.run;
  TUTTI_ASSIGN(run.ranks_per_host, ranks_per_host_of(options.ranks_per_host));
  TUTTI_ASSIGN(const HostRange hosts, hosts_of(options.host_count));
  const bool are_named = !run.hosts.empty() || !run.host_file.empty();
  if (options.is_standalone && (hosts.most > 1 || are_named)) {
    return invalid_argument("--standalone keeps all ranks on this host, but others are asked for; leave it away");
  }
  if (options.node_rank > 0) {
    return invalid_argument(
        fmt::format("--node-rank {}: all hosts are started from one place; run it once, with "
                    "-H host1,host2 or inside an allocation of Slurm, and without --node-rank",
                    options.node_rank));
  }
  run.host_count = hosts.most;
  run.needs_hosts = hosts.most > 1;
  if (hosts.most == 1 && are_named) run.host_count = 0;
  if (hosts.most == 1 && !are_named) run.launcher = "local";
  if (hosts.most > hosts.least) {
    run.ranks_min = hosts.least * run.ranks_per_host;
    run.ranks_max = hosts.most * run.ranks_per_host;
  }
  run.name = options.job;
  run.only = options.filter;
  if (script.empty()) return invalid_argument("no script is given; write it behind the options: torchrun train.py");
  if (!options.has_no_python) run.program = {python(), "-u"};
  if (options.is_module) run.program.emplace_back("-m");
  run.program.insert(run.program.end(), script.begin(), script.end());
  if (options.is_module && options.has_no_python) {
    return invalid_argument("-m names a module of Python, and --no-python starts none; leave one of them away");
  }
  add_output(options, run);
  add_environment(options, run);
  return run;
}

}  // namespace

int torchrun(std::vector<std::string> arguments, const std::string& called) {
  TorchOptions options;
  CLI::App app("Start the ranks of a job as torchrun does, with Tutti's launcher.", called);
  app.footer("Examples:\n  torchrun --nproc-per-node 4 train.py\n  torchrun --nnodes 2 -H gpu1,gpu2 train.py");
  add_options(app, options);
  // Only what stands in front of the script is ours.
  std::vector<std::string> own = arguments;
  replace_underscores(own);
  const std::size_t script_size = take_program(app, own).size();
  std::vector<std::string> script(arguments.end() - static_cast<std::ptrdiff_t>(script_size), arguments.end());
  std::vector<std::string> rest;
  if (const auto code = parse_line(app, own, rest)) return *code;
  for (const std::string& flag : options.ignored) {
    fmt::print(stderr, "{}: {} has no meaning here: the launcher knows all hosts\n", called, flag);
  }
  const auto run = run_options_of(options, script);
  if (!run) {
    fmt::print(stderr, "{}: {}\n", called, run.status().text());
    return kExitUsage;
  }
  return run_job(*run, called);
}

}  // namespace tutti::tool
