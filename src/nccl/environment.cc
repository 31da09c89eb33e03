#include "nccl/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <mutex>

#include "base/log.h"
#include "base/text.h"
#include "nccl/adapter_list.h"
#include "nccl/algorithm_list.h"
#include "nccl/environment_table.h"
#include "nccl/settings_file.h"
#include "os/environment.h"
#include "os/log_sink.h"

namespace tutti::nccl {

namespace {

constexpr int kSocketsMax = 64;  // as many as TUTTI_SOCKETS_PER_PEER takes

// Names that look like NCCL's and are of builds, images and other programs.
constexpr std::array<std::string_view, 9> kOfOthers = {"NCCL_HOME",    "NCCL_ROOT",        "NCCL_ROOT_DIR",
                                                       "NCCL_LIBRARY", "NCCL_INCLUDE_DIR", "NCCL_LIB_DIR",
                                                       "NCCL_VERSION", "NCCL_PREFIX",      "NCCL_SRC_DIR"};
constexpr std::array<std::string_view, 2> kPrefixesOfOthers = {"NCCL_TESTS_", "NCCL_OFI_"};

bool is_same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Reads variables one by one and keeps what is wrong with them.
class Reader {
 public:
  explicit Reader(const KnobLookup& lookup) : lookup_(lookup) {}

  std::optional<std::string> text(std::string_view name) const {
    auto value = lookup_(name);
    return value && value->empty() ? std::nullopt : value;
  }
  std::optional<int> number(std::string_view name, int least, int most) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    const auto number = text::integer_of<int>(text::trim(*value));
    if (number && *number >= least && *number <= most) return number;
    fault(name, invalid_argument(fmt::format("'{}' is not a whole number from {} to {}", *value, least, most)));
    return std::nullopt;
  }
  void fault(std::string_view name, const Status& status) {
    faults_.push_back(fmt::format("{}: {}", name, status.text()));
  }
  Status status() const {
    return faults_.empty() ? Status() : invalid_argument(fmt::format("{}", fmt::join(faults_, "; ")));
  }

 private:
  const KnobLookup& lookup_;
  std::vector<std::string> faults_;
};

std::string cause_of(std::string_view name, std::string_view value) { return fmt::format("{}='{}'", name, value); }

void read_transport(Reader& reader, std::vector<Consequence>& consequences) {
  const auto net = reader.text("NCCL_NET");
  const auto disable = reader.number("NCCL_IB_DISABLE", 0, 1);
  if (disable == 1) {
    consequences.push_back({"TUTTI_TRANSPORT", "tcp", cause_of("NCCL_IB_DISABLE", "1")});
  } else if (net && is_same_word(*net, "Socket")) {
    consequences.push_back({"TUTTI_TRANSPORT", "tcp", cause_of("NCCL_NET", *net)});
  } else if (net && is_same_word(*net, "IB")) {
    consequences.push_back({"TUTTI_TRANSPORT", "ucx", cause_of("NCCL_NET", *net)});
  }
}

void read_sockets(Reader& reader, std::vector<Consequence>& consequences) {
  const auto threads = reader.number("NCCL_SOCKET_NTHREADS", 1, 16);
  const auto sockets = reader.number("NCCL_NSOCKS_PERTHREAD", 1, 16);
  if (!threads && !sockets) return;
  const int product = std::min(threads.value_or(1) * sockets.value_or(1), kSocketsMax);
  std::vector<std::string> causes;
  if (threads) causes.push_back(cause_of("NCCL_SOCKET_NTHREADS", fmt::format("{}", *threads)));
  if (sockets) causes.push_back(cause_of("NCCL_NSOCKS_PERTHREAD", fmt::format("{}", *sockets)));
  consequences.push_back(
      {"TUTTI_SOCKETS_PER_PEER", fmt::format("{}", product), fmt::format("{}", fmt::join(causes, " with "))});
}

void read_ucx(Reader& reader, std::span<const std::string> adapters, std::vector<Consequence>& consequences) {
  if (const auto text = reader.text("NCCL_IB_HCA")) {
    const std::string devices = ucx_devices_of(*text, adapters);
    if (!devices.empty()) consequences.push_back({"UCX_NET_DEVICES", devices, cause_of("NCCL_IB_HCA", *text)});
  }
  struct Pair {
    std::string_view theirs;
    std::string_view ucx;
    int most;
  };
  constexpr std::array kPairs = {Pair{"NCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX", 255},
                                 Pair{"NCCL_IB_SL", "UCX_IB_SL", 15}, Pair{"NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS", 255}};
  for (const Pair& pair : kPairs) {
    const auto number = reader.number(pair.theirs, -1, pair.most);  // -1: as if nothing were said
    if (!number || *number < 0) continue;
    const std::string text = fmt::format("{}", *number);
    consequences.push_back({pair.ucx, text, cause_of(pair.theirs, text)});
  }
}

void read_algorithms(Reader& reader, Environment& environment) {
  if (const auto text = reader.text("NCCL_ALGO")) {
    auto allowed = parse_algorithms(*text);
    if (allowed) {
      environment.allowed = *std::move(allowed);
      environment.allowed_by = fmt::format("NCCL_ALGO={}", *text);
    } else {
      reader.fault("NCCL_ALGO", allowed.status());
    }
  }
  if (const auto text = reader.text("NCCL_PROTO")) {
    if (const Status status = validate_protocols(*text); !status) reader.fault("NCCL_PROTO", status);
  }
}

bool is_of_others(std::string_view name) {
  return std::ranges::find(kOfOthers, name) != kOfOthers.end() ||
         std::ranges::any_of(kPrefixesOfOthers, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string remark_on(std::string_view name) {
  if (const Variable* const variable = find_variable(name)) {
    if (variable->standing != Standing::none) return "";
    return fmt::format("{} has no meaning here: {}", name, variable->remark);
  }
  if (is_of_others(name)) return "";
  std::vector<std::string> known;
  for (const Variable& variable : variables()) known.emplace_back(variable.name);
  const std::string suggestion = text::suggestion(name, known);
  return fmt::format("{} is no variable of NCCL that is known here{}", name,
                     suggestion.empty() ? "; 'tutti env --nccl' lists those that are" : suggestion);
}

// UCX reads its settings itself, so they go to the environment of the process, as NCCL's own files of settings do.
void bring_about(const Environment& environment) {
  for (const Consequence& consequence : environment.consequences) {
    const std::string name(consequence.name);
    if (name.starts_with("UCX_")) {
      ::setenv(name.c_str(), consequence.value.c_str(), 0);
    } else {
      os::supply_variable(name, consequence.value);
    }
  }
}

Status tell(const Environment& environment) {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  TUTTI_TRY(os::install_log(knobs));
  const auto say = [](const std::string& line) { log::write(LogLevel::info, kNoRank, LogArea::settings, line); };
  for (const std::string& line : remarks(os::environment_variable, os::environment_names("NCCL_"))) say(line);
  if (!environment.dumps_parameters) return {};
  for (const KnobReading& reading : knobs.readings()) {
    say(fmt::format("{}='{}' ({})", reading.knob->name, reading.text,
                    reading.variable.empty() ? "default" : reading.variable));
  }
  return {};
}

}  // namespace

void read_settings_files() {
  for (const std::string& file : settings_files(os::environment_variable)) {
    for (const FileSetting& setting : read_settings(file)) {
      const bool is_ours = setting.name.starts_with("NCCL_") || setting.name.starts_with("TUTTI_");
      if (is_ours) os::supply_variable(setting.name, setting.value);
    }
  }
}

Result<Environment> read_environment(const KnobLookup& lookup, std::span<const std::string> adapters) {
  Reader reader(lookup);
  Environment environment;
  read_algorithms(reader, environment);
  read_transport(reader, environment.consequences);
  read_sockets(reader, environment.consequences);
  read_ucx(reader, adapters, environment.consequences);
  environment.meeting_address = reader.text("NCCL_COMM_ID").value_or("");
  if (const auto number = reader.number("NCCL_COMM_BLOCKING", 0, 1)) environment.is_blocking = *number == 1;
  environment.dumps_parameters = reader.number("NCCL_PARAM_DUMP_ALL", 0, 1) == 1;
  TUTTI_TRY(reader.status());
  return environment;
}

std::vector<std::string> remarks(const KnobLookup& lookup, std::span<const std::string> names) {
  std::vector<std::string> lines;
  for (const std::string& name : names) {
    if (!name.starts_with("NCCL_")) continue;
    if (std::string line = remark_on(name); !line.empty()) lines.push_back(std::move(line));
  }
  const auto environment = read_environment(lookup, find_adapters());
  if (!environment) return lines;  // whoever starts hears it as a failure
  for (const Consequence& consequence : environment->consequences) {
    const auto own = lookup(consequence.name);
    const bool counts = !own || own->empty() || *own == consequence.value;
    lines.push_back(counts ? fmt::format("{} is {}={}", consequence.cause, consequence.name, consequence.value)
                           : fmt::format("{}='{}' counts, {} does not", consequence.name, *own, consequence.cause));
  }
  return lines;
}

Result<Environment> environment_of_process() {
  static std::once_flag files;
  std::call_once(files, read_settings_files);
  TUTTI_ASSIGN(Environment environment, read_environment(os::environment_variable, find_adapters()));
  static std::once_flag consequences;
  Status told;
  std::call_once(consequences, [&] {
    told = tell(environment);  // before the settings that follow are set as well
    bring_about(environment);
  });
  TUTTI_TRY(told);
  return environment;
}

void apply(const Environment& environment, CommunicatorOptions& options) {
  options.allowed = environment.allowed;
  options.allowed_by = environment.allowed_by;
}

}  // namespace tutti::nccl
