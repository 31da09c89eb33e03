#include "launch/agent/rank_environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace tutti::launch {
namespace {

constexpr const char* kDevices = "CUDA_VISIBLE_DEVICES";
constexpr const char* kThreads = "OMP_NUM_THREADS";
constexpr int kVirtualDevices = 8;  // unless TUTTI_VIRTUAL_DEVICES says otherwise

// In the order in which names first came.
class Environment {
 public:
  void set(std::string_view name, std::string_view value) {
    const auto [place, is_new] = places_.emplace(name, entries_.size());
    if (is_new) entries_.emplace_back();
    entries_[place->second] = {std::string(name), std::string(value)};
  }
  std::optional<std::string> find(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(entries_[found->second].second);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& [name, value] : entries_) lines.push_back(fmt::format("{}={}", name, value));
    return lines;
  }

 private:
  Variables entries_;
  std::unordered_map<std::string, std::size_t> places_;
};

bool has(const Variables& variables, std::string_view name) {
  return std::ranges::any_of(variables, [&](const auto& variable) { return variable.first == name; });
}

int device_count_of(const Environment& environment, const HostEnvironment& host) {
  if (host.gpu_count > 0) return host.gpu_count;
  const auto wished = environment.find("TUTTI_VIRTUAL_DEVICES");
  return wished ? text::integer_of<int>(*wished).value_or(kVirtualDevices) : kVirtualDevices;
}

int threads_of(const Order& order, const Binding& binding, const HostEnvironment& host) {
  if (binding.core_count > 0) return binding.core_count;
  return std::max(1, host.usable_cores / static_cast<int>(std::max<Rank>(order.local_size, 1)));
}

std::optional<std::string> own_variable(const HostEnvironment& host, std::string_view name) {
  for (const std::string& line : host.own) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=')
      return line.substr(name.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> devices_of(Rank local_rank, int devices_per_rank, int device_count,
                               const std::optional<std::string>& visible) {
  std::vector<std::string> all;
  if (visible) {
    for (const std::string_view device : text::split(*visible, ',')) {
      if (!text::trim(device).empty()) all.emplace_back(text::trim(device));
    }
  } else {
    for (int device = 0; device < device_count; ++device) all.push_back(std::to_string(device));
  }
  const auto each = static_cast<std::size_t>(devices_per_rank);
  const std::size_t first = static_cast<std::size_t>(local_rank) * each;
  if (first + each <= all.size())
    return fmt::format("{}", fmt::join(all.begin() + static_cast<std::ptrdiff_t>(first),
                                       all.begin() + static_cast<std::ptrdiff_t>(first + each), ","));
  return invalid_argument(fmt::format(
      "local rank {} needs devices {} to {} of this host, which has {}{}; start fewer ranks here or give "
      "each fewer devices",
      local_rank, first, first + each - 1, all.size(), visible ? fmt::format(" ({}={})", kDevices, *visible) : ""));
}

Result<std::vector<std::string>> environment_of(const Order& order, const RankOrder& rank, const Binding& binding,
                                                const HostEnvironment& host) {
  Environment environment;
  if (order.inherits_environment) {
    for (const std::string& line : host.own) {
      const std::size_t equals = line.find('=', 1);
      if (equals != std::string::npos)
        environment.set(std::string_view(line).substr(0, equals), std::string_view(line).substr(equals + 1));
    }
  }
  for (const auto& [name, value] : order.environment) environment.set(name, value);
  for (const auto& [name, value] : rank.variables) environment.set(name, value);
  if (!environment.find(kThreads)) environment.set(kThreads, std::to_string(threads_of(order, binding, host)));
  if (order.devices_per_rank > 0 && !has(rank.variables, kDevices)) {
    auto visible = environment.find(kDevices);
    if (!visible) visible = own_variable(host, kDevices);
    TUTTI_ASSIGN(const std::string devices,
                 devices_of(rank.local_rank, order.devices_per_rank, device_count_of(environment, host), visible));
    environment.set(kDevices, devices);
  }
  return environment.lines();
}

}  // namespace tutti::launch
