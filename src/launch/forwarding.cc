#include "launch/forwarding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tutti::launch {
namespace {

constexpr std::string_view kPlace = "it says the place of a process in a job, and ranks get their own";
constexpr std::string_view kOuter = "it leads to the launcher that has started this one";
constexpr std::string_view kHost = "it is about this host";
constexpr std::string_view kLogin = "it is about this login; ranks have that of their host";
constexpr std::string_view kTerminal = "it is about this shell and its terminal";
constexpr std::string_view kNode = "Slurm sets it on each node";

enum class When : std::uint8_t { always, elsewhere, in_slurm };

struct Rule {
  std::string_view name;  // "SSH_*": all that begin so
  When when;
  std::string_view why;
};

constexpr std::array kRules = {
    Rule{"TUTTI_RANK", When::always, kPlace},
    Rule{"TUTTI_SIZE", When::always, kPlace},
    Rule{"TUTTI_LOCAL_RANK", When::always, kPlace},
    Rule{"TUTTI_LOCAL_SIZE", When::always, kPlace},
    Rule{"TUTTI_STORE", When::always, kPlace},
    Rule{"TUTTI_JOB", When::always, kPlace},
    Rule{"TUTTI_JOB_ID", When::always, kPlace},
    Rule{"RANK", When::always, kPlace},
    Rule{"WORLD_SIZE", When::always, kPlace},
    Rule{"LOCAL_RANK", When::always, kPlace},
    Rule{"LOCAL_WORLD_SIZE", When::always, kPlace},
    Rule{"GROUP_RANK", When::always, kPlace},
    Rule{"GROUP_WORLD_SIZE", When::always, kPlace},
    Rule{"NODE_RANK", When::always, kPlace},
    Rule{"ROLE_NAME", When::always, kPlace},
    Rule{"ROLE_RANK", When::always, kPlace},
    Rule{"ROLE_WORLD_SIZE", When::always, kPlace},
    Rule{"MASTER_ADDR", When::always, kPlace},
    Rule{"MASTER_PORT", When::always, kPlace},
    Rule{"TORCHELASTIC_*", When::always, kPlace},
    Rule{"TF_CONFIG", When::always, kPlace},
    Rule{"HOROVOD_RANK", When::always, kPlace},
    Rule{"HOROVOD_SIZE", When::always, kPlace},
    Rule{"HOROVOD_LOCAL_RANK", When::always, kPlace},
    Rule{"HOROVOD_LOCAL_SIZE", When::always, kPlace},
    Rule{"HOROVOD_CROSS_RANK", When::always, kPlace},
    Rule{"HOROVOD_CROSS_SIZE", When::always, kPlace},
    Rule{"HOROVOD_HOSTNAME", When::always, kPlace},
    Rule{"HOROVOD_GLOO_RENDEZVOUS_*", When::always, kOuter},
    Rule{"OMPI_COMM_WORLD_*", When::always, kPlace},
    Rule{"OMPI_UNIVERSE_SIZE", When::always, kPlace},
    Rule{"OMPI_MCA_ess_*", When::always, kOuter},
    Rule{"OMPI_MCA_orte_*", When::always, kOuter},
    Rule{"OMPI_MCA_pmix_*", When::always, kOuter},
    Rule{"MPI_LOCALRANKID", When::always, kPlace},
    Rule{"MPI_LOCALNRANKS", When::always, kPlace},
    Rule{"PMI_*", When::always, kOuter},
    Rule{"PMI2_*", When::always, kOuter},
    Rule{"PMIX_*", When::always, kOuter},
    Rule{"PRTE_*", When::always, kOuter},
    Rule{"HYDI_*", When::always, kOuter},
    Rule{"SLURM_PROCID", When::always, kPlace},
    Rule{"SLURM_LOCALID", When::always, kPlace},
    Rule{"SLURM_NODEID", When::always, kPlace},
    Rule{"SLURM_GTIDS", When::always, kPlace},
    Rule{"SLURM_TASK_PID", When::always, kPlace},
    Rule{"SLURM_STEP*", When::always, kPlace},
    Rule{"SLURM_SRUN_COMM_*", When::always, kOuter},
    Rule{"SLURM_LAUNCH_NODE_IPADDR", When::always, kOuter},
    Rule{"SLURM_CPU_BIND*", When::always, kPlace},
    Rule{"SLURM_*", When::in_slurm, kNode},
    Rule{"SLURMD_*", When::elsewhere, kHost},
    Rule{"CUDA_VISIBLE_DEVICES", When::in_slurm, kNode},
    Rule{"GPU_DEVICE_ORDINAL", When::in_slurm, kNode},
    Rule{"ROCR_VISIBLE_DEVICES", When::in_slurm, kNode},
    Rule{"HOSTNAME", When::elsewhere, kHost},
    Rule{"HOST", When::elsewhere, kHost},
    Rule{"TMPDIR", When::elsewhere, kHost},
    Rule{"TMP", When::elsewhere, kHost},
    Rule{"TEMP", When::elsewhere, kHost},
    Rule{"XDG_*", When::elsewhere, kLogin},
    Rule{"SSH_*", When::elsewhere, kLogin},
    Rule{"DBUS_SESSION_BUS_ADDRESS", When::elsewhere, kLogin},
    Rule{"KRB5CCNAME", When::elsewhere, kLogin},
    Rule{"INVOCATION_ID", When::elsewhere, kLogin},
    Rule{"JOURNAL_STREAM", When::elsewhere, kLogin},
    Rule{"HOME", When::elsewhere, kLogin},
    Rule{"USER", When::elsewhere, kLogin},
    Rule{"LOGNAME", When::elsewhere, kLogin},
    Rule{"MAIL", When::elsewhere, kLogin},
    Rule{"SHELL", When::elsewhere, kLogin},
    Rule{"DISPLAY", When::elsewhere, kTerminal},
    Rule{"WAYLAND_DISPLAY", When::elsewhere, kTerminal},
    Rule{"XAUTHORITY", When::elsewhere, kTerminal},
    Rule{"WINDOWID", When::elsewhere, kTerminal},
    Rule{"TMUX*", When::elsewhere, kTerminal},
    Rule{"STY", When::elsewhere, kTerminal},
    Rule{"COLUMNS", When::elsewhere, kTerminal},
    Rule{"LINES", When::elsewhere, kTerminal},
    Rule{"PS1", When::elsewhere, kTerminal},
    Rule{"PWD", When::elsewhere, kTerminal},
    Rule{"OLDPWD", When::elsewhere, kTerminal},
    Rule{"SHLVL", When::elsewhere, kTerminal},
    Rule{"_", When::always, kTerminal},
    Rule{"BASH_FUNC_*", When::elsewhere, kTerminal},
    Rule{"BASH_ENV", When::elsewhere, kTerminal},
};

bool applies(const Rule& rule, std::string_view name, Starter starter) {
  if (rule.when == When::elsewhere && starter == Starter::local) return false;
  if (rule.when == When::in_slurm && starter != Starter::slurm) return false;
  if (!rule.name.ends_with('*')) return name == rule.name;
  return name.starts_with(rule.name.substr(0, rule.name.size() - 1));
}

bool is_name(std::string_view name) {
  const auto is_letter = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
  };
  const auto is_part = [&](char letter) { return is_letter(letter) || (letter >= '0' && letter <= '9'); };
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, is_part);
}

std::string_view without_quotes(std::string_view value) {
  const bool is_quoted = value.size() >= 2 && value.front() == value.back() && (value[0] == '"' || value[0] == '\'');
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

std::string_view reason_to_keep(std::string_view name, Starter starter) {
  const auto found = std::ranges::find_if(kRules, [&](const Rule& rule) { return applies(rule, name, starter); });
  return found == kRules.end() ? std::string_view() : found->why;
}

Variables forwarded(const Variables& environment, Starter starter) {
  Variables result;
  for (const auto& variable : environment) {
    if (reason_to_keep(variable.first, starter).empty()) result.push_back(variable);
  }
  return result;
}

Result<std::pair<std::string, std::string>> parse_assignment(std::string_view text, const Variables& environment) {
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (!is_name(name)) {
    return invalid_argument(fmt::format(
        "'{}' is no variable; write NAME=VALUE, or NAME to pass on the value that it has here", text.substr(0, 80)));
  }
  if (equals != std::string_view::npos) return std::pair(std::string(name), std::string(text.substr(equals + 1)));
  const std::string* value = find_variable(environment, name);
  if (value != nullptr) return std::pair(std::string(name), *value);
  return invalid_argument(fmt::format("variable {0} is not set here; give it a value with {0}=VALUE", name));
}

Result<Variables> parse_environment_file(std::string_view text, const Variables& environment) {
  Variables variables;
  std::size_t number = 0;
  for (const std::string_view given : text::split(text, '\n')) {
    ++number;
    std::string_view line = text::trim(given);
    if (line.starts_with("export ")) line = text::trim(line.substr(7));
    if (line.empty() || line.starts_with('#')) continue;
    auto assignment = parse_assignment(line, environment);
    if (!assignment) return assignment.status().while_doing(fmt::format("line {}", number));
    set_variable(variables, assignment->first, std::string(without_quotes(assignment->second)));
  }
  return variables;
}

void set_variable(Variables& variables, std::string_view name, std::string value) {
  const auto found = std::ranges::find(variables, name, &Variables::value_type::first);
  if (found != variables.end()) {
    found->second = std::move(value);
  } else {
    variables.emplace_back(name, std::move(value));
  }
}

const std::string* find_variable(const Variables& variables, std::string_view name) {
  const auto found = std::ranges::find(variables, name, &Variables::value_type::first);
  return found == variables.end() ? nullptr : &found->second;
}

}  // namespace tutti::launch
