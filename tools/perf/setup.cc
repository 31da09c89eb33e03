#include "tools/perf/setup.h"

#include <cuda_runtime.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nccl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "base/text.h"
#include "os/environment.h"
#include "os/machine.h"
#include "tools/perf/explanation.h"
#include "tools/perf/failure.h"
#include "tutti/version.h"

namespace tutti::perf {

namespace {

std::string processor_text() {
  std::ifstream file("/proc/cpuinfo");
  std::string model;
  for (std::string line; model.empty() && std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos) model = text::trim(line.substr(colon + 1));
  }
  const int cores = os::this_machine().usable_cores;
  return fmt::format("{} core{}{}", cores, cores == 1 ? "" : "s", model.empty() ? "" : " of " + model);
}

std::string system_text() {
  utsname names{};
  if (uname(&names) != 0) return "";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

// By its name: where processes meet, and whatever proves who somebody is.
bool is_secret(std::string_view name) {
  if (name.ends_with("_ID")) return true;
  for (const std::string_view word : {"SECRET", "STORE", "KEY", "TOKEN", "PASS", "CREDENTIAL", "AUTH"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// What changes speed and tells no secrets.
std::vector<std::pair<std::string, std::string>> settings_now() {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const char* prefix : {"NCCL_", "TUTTI_"}) {
    for (const std::string& name : os::environment_names(prefix)) {
      const auto value = os::environment_variable(name);
      if (value) settings.emplace_back(name, is_secret(name) ? "(set)" : *value);
    }
  }
  return settings;
}

std::optional<unsigned long> number_of(std::string_view text) {
  const std::string digits(text::trim(text));
  if (digits.empty()) return std::nullopt;
  const bool is_binary = digits.starts_with("0b") || digits.starts_with("0B");
  const char* begin = digits.c_str() + (is_binary ? 2 : 0);
  char* end = nullptr;
  const unsigned long value = std::strtoul(begin, &end, is_binary ? 2 : 0);
  if (end == begin || *end != '\0') return std::nullopt;
  return value;
}

std::string formatted_time(const char* format, bool is_universal) {
  const std::time_t now = std::time(nullptr);
  const std::tm parts = is_universal ? fmt::gmtime(now) : fmt::localtime(now);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

}  // namespace

std::string universal_time() { return formatted_time("%Y-%m-%dT%H:%M:%SZ", true); }
std::string local_time() { return formatted_time("%Y-%m-%d %H:%M:%S", false); }

Setup describe_run(const std::string& program, const std::vector<std::string>& command, const Options& options) {
  Setup setup{.program = program, .command = command, .started = universal_time(), .tool_version = TUTTI_VERSION};
  static_cast<void>(ncclGetVersion(&setup.library_version));
  setup.library = library_name(setup.library_version);
  setup.threads = options.threads;
  setup.devices_per_thread = options.devices;
  setup.min_bytes = options.min_bytes;
  setup.max_bytes = options.max_bytes;
  (options.step_factor > 1 ? setup.step_factor : setup.step_bytes) =
      options.step_factor > 1 ? options.step_factor : options.step_bytes;
  setup.warmup_iterations = options.warmup_iterations;
  setup.iterations = options.iterations;
  setup.aggregated_iterations = options.aggregated_iterations;
  setup.checks = options.checks;
  setup.graph_launches = options.graph_launches;
  setup.blocking = options.blocking;
  setup.repeats = options.repeats_of_each();
  setup.processor = processor_text();
  setup.system = system_text();
  setup.settings = settings_now();
  return setup;
}

Result<std::vector<Seat>> seats_of(const Seating& seating) {
  int first = seating.local_process * seating.count;
  if (const auto chosen = os::environment_variable("NCCL_TESTS_DEVICE")) {
    const auto device = text::integer_of<int>(*chosen);
    if (!device || *device < 0)
      return invalid_argument(fmt::format("NCCL_TESTS_DEVICE={}: give the number of the first device", *chosen));
    first = *device;
  }
  int available = 0;
  TUTTI_TRY(of_cuda(cudaGetDeviceCount(&available), "cudaGetDeviceCount"));
  if (first + seating.count > available) {
    return Status(Code::unsupported,
                  fmt::format("{} devices are needed on this host, but there {} {}; use fewer (-t, -g, processes), or "
                              "set TUTTI_VIRTUAL_DEVICES={} where they are virtual",
                              first + seating.count, available == 1 ? "is" : "are", available, first + seating.count));
  }
  std::vector<Seat> seats;
  for (int i = 0; i < seating.count; ++i) {
    cudaDeviceProp properties{};
    TUTTI_TRY(of_cuda(cudaGetDeviceProperties(&properties, first + i), "cudaGetDeviceProperties"));
    seats.push_back({.rank = seating.process * seating.count + i,
                     .group = seating.group,
                     .pid = getpid(),
                     .host = os::this_machine().host,
                     .device = first + i,
                     .bus = fmt::format("{:04x}:{:02x}:{:02x}", properties.pciDomainID, properties.pciBusID,
                                        properties.pciDeviceID),
                     .name = properties.name});
  }
  return seats;
}

std::string seats_text(std::span<const Seat> seats) {
  std::string lines;
  for (const Seat& seat : seats)
    lines += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", seat.rank, seat.group, seat.pid, seat.host, seat.device,
                         seat.bus, seat.name);
  return lines;
}

std::vector<Seat> parse_seats(const std::string& lines) {
  std::vector<Seat> seats;
  for (const std::string_view line : text::split(lines, '\n')) {
    const auto fields = text::split(line, '\t');
    if (fields.size() != 7) continue;
    seats.push_back({.rank = text::integer_of<int>(fields[0]).value_or(0),
                     .group = text::integer_of<int>(fields[1]).value_or(0),
                     .pid = text::integer_of<int>(fields[2]).value_or(0),
                     .host = std::string(fields[3]),
                     .device = text::integer_of<int>(fields[4]).value_or(0),
                     .bus = std::string(fields[5]),
                     .name = std::string(fields[6])});
  }
  return seats;
}

Result<int> color_of(int process) {
  const auto rank = static_cast<unsigned long>(process);
  if (const auto mask = os::environment_variable("NCCL_TESTS_SPLIT_MASK")) {
    const auto value = number_of("0x" + (mask->starts_with("0x") ? mask->substr(2) : *mask));
    if (!value) return invalid_argument(fmt::format("NCCL_TESTS_SPLIT_MASK={}: give a hexadecimal number", *mask));
    return static_cast<int>(rank & *value);
  }
  const auto split = os::environment_variable("NCCL_TESTS_SPLIT");
  if (!split) return 0;
  std::string upper = *split;
  for (char& letter : upper) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  for (const auto& [word, sign] : {std::pair{"AND", '&'}, {"OR", '|'}, {"MOD", '%'}, {"DIV", '/'}}) {
    const std::size_t length = upper.starts_with(word)   ? std::string_view(word).size()
                               : upper.starts_with(sign) ? 1
                                                         : 0;
    if (length == 0) continue;
    const auto value = number_of(std::string_view(*split).substr(length));
    if (!value || (*value == 0 && (sign == '%' || sign == '/'))) break;
    if (sign == '&') return static_cast<int>(rank & *value);
    if (sign == '|') return static_cast<int>(rank | *value);
    return static_cast<int>(sign == '%' ? rank % *value : rank / *value);
  }
  return invalid_argument(
      fmt::format("NCCL_TESTS_SPLIT='{}': write AND, OR, MOD or DIV and a number, as in 'MOD 8'", *split));
}

}  // namespace tutti::perf
