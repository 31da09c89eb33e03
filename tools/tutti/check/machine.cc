#include "tools/tutti/check/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "engine/host/kernels/kernels.h"
#include "os/machine.h"
#include "os/small_file.h"
#include "transport/ucx.h"
#include "tutti/version.h"

namespace tutti::tool::check {

namespace {

namespace fs = std::filesystem;

#ifdef TUTTI_HAS_HIGHWAY
constexpr bool kHasHighway = true;
#else
constexpr bool kHasHighway = false;
#endif
#ifdef TUTTI_HAS_HWLOC
constexpr bool kHasHwloc = true;
#else
constexpr bool kHasHwloc = false;
#endif

std::string size_text(std::size_t bytes) { return bytes == 0 ? "unknown" : text::bytes_text(bytes); }

utsname system_here() {
  utsname system{};
  if (uname(&system) != 0) system = {};
  return system;
}

// "Model: NVIDIA H100 80GB HBM3" in a file of the driver.
std::string model_of(const std::string& information) {
  for (const std::string_view line : text::split(information, '\n')) {
    if (line.starts_with("Model:")) return std::string(text::trim(line.substr(6)));
  }
  return "NVIDIA GPU";
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue ...": the first word that is a version.
std::string driver_version_of(const std::string& text) {
  for (const std::string_view word : text::words(text)) {
    const bool is_version = std::ranges::all_of(word, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    if (is_version && word.find('.') != std::string_view::npos) return std::string(word);
  }
  return "unknown";
}

bool is_device_name(const std::string& name) {
  return name.starts_with("nvidia") && text::integer_of<int>(std::string_view(name).substr(6)).has_value();
}

}  // namespace

std::string kernel_release() { return system_here().release; }
std::string architecture() { return system_here().machine; }

Finding find_build() {
  const utsname system = system_here();
  return {.what = "build",
          .text = fmt::format("tutti {} on {} {}, {}", TUTTI_VERSION, system.sysname, system.release, system.machine)};
}

Finding find_instructions() {
  std::vector<std::string_view> sets;
  for (const auto& set : engine::kernel_sets()) sets.push_back(set.instruction_set);
  Finding finding{.what = "arithmetic", .text = fmt::format("{}, the best of {}", sets[0], fmt::join(sets, ", "))};
  if (!kHasHighway) {
    finding = {State::slower, "arithmetic", "portable C++: this build has no Highway",
               "install libhwy-dev and build again; the bits stay the same"};
  }
  return finding;
}

Finding find_cores() {
  const os::Machine& machine = os::this_machine();
  return {.what = "cores",
          .text = fmt::format("{} usable, {} of memory, {} NUMA node{}", machine.usable_cores,
                              size_text(machine.memory_bytes), machine.numa_nodes, machine.numa_nodes == 1 ? "" : "s")};
}

Finding find_caches() {
  const os::Machine& machine = os::this_machine();
  Finding finding{
      .what = "caches",
      .text = fmt::format("second {}, last {} for {} core{}, as {} tells", size_text(machine.cache_bytes_l2),
                          size_text(machine.cache_bytes_last), machine.cores_of_last_cache,
                          machine.cores_of_last_cache == 1 ? "" : "s", kHasHwloc ? "hwloc" : "Linux")};
  if (!kHasHwloc) finding.remedy = "install libhwloc-dev and build again to know more of large machines";
  return finding;
}

Finding find_transports() {
  const Status ucx = transport::try_ucx();
  std::string third = "no UCX in this build";
  if (transport::is_ucx_built()) {
    third = ucx ? fmt::format("UCX {}", transport::ucx_version()) : "UCX in this build, but its library is not here";
  }
  return {.what = "transports", .text = fmt::format("shared memory, TCP, {}", third)};
}

Gpus find_gpus(const std::string& proc, const std::string& dev) {
  Gpus gpus;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(proc + "/gpus", error)) {
    const auto information = os::read_small_file(entry.path().string() + "/information");
    if (gpus.listed++ == 0) gpus.model = model_of(information.value_or(""));
  }
  for (const auto& entry : fs::directory_iterator(dev, error)) {
    if (is_device_name(entry.path().filename().string())) ++gpus.usable;
  }
  if (const auto version = os::read_small_file(proc + "/version")) gpus.driver = driver_version_of(*version);
  return gpus;
}

std::string text_of(const Gpus& gpus) {
  return gpus.listed == 0 ? "none" : fmt::format("{} {}", gpus.usable, gpus.model);
}

Finding find_devices() {
  const Gpus gpus = find_gpus();
  const std::string virtual_ones = "virtual devices in host memory (TUTTI_VIRTUAL_DEVICES)";
  if (gpus.listed == 0) return {.what = "devices", .text = fmt::format("no NVIDIA GPU; {}", virtual_ones)};
  Finding finding{
      .what = "devices",
      .text = fmt::format("{} of {} {} usable, driver {}", gpus.usable, gpus.listed, gpus.model, gpus.driver),
      .details = {fmt::format("this build computes on the host: programs get {}", virtual_ones)}};
  if (gpus.usable < gpus.listed) {
    finding.state = State::slower;
    finding.remedy = "containers: docker run --gpus all; Slurm: --gres=gpu:N or --gpus-per-node=N";
  }
  return finding;
}

}  // namespace tutti::tool::check
