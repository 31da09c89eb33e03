#include "launch/world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "launch/start/ssh_words.h"

namespace tutti::launch {

namespace {

constexpr std::size_t kNamesMax = 8;  // in a sentence
constexpr std::array<std::string_view, 4> kLoopback = {"localhost", "127.0.0.1", "::1", "localhost.localdomain"};

std::string_view first_label(std::string_view name) { return name.substr(0, name.find('.')); }

bool is_loopback(std::string_view name) { return std::ranges::find(kLoopback, name) != kLoopback.end(); }

bool is_number(std::string_view name) { return name.find_first_not_of("0123456789.:") == std::string_view::npos; }

}  // namespace

bool is_this_machine(std::string_view host, std::string_view machine) {
  if (host.find('@') != std::string_view::npos) return false;  // another user is reached by ssh, on this machine too
  if (is_loopback(host) || host == machine) return true;
  if (is_number(host)) return false;
  // A short name and a long one of the same machine; two long ones must be equal.
  const bool has_short = host.find('.') == std::string_view::npos || machine.find('.') == std::string_view::npos;
  return has_short && first_label(host) == first_label(machine);
}

std::vector<std::string> addresses_of(const Settings& settings, const Layout& layout, std::string_view machine) {
  const auto is_here = [&](const Host& host) {
    return settings.starter == Starter::local ||
           (settings.starter == Starter::ssh && is_this_machine(host.name, machine));
  };
  const bool is_alone = std::ranges::all_of(layout.hosts, is_here);
  std::vector<std::string> addresses;
  for (const Host& host : layout.hosts) {
    const std::string_view name = bare_name(host.name);
    if (is_alone) {
      addresses.emplace_back("127.0.0.1");
    } else {
      addresses.emplace_back(is_loopback(name) ? machine : name);
    }
  }
  return addresses;
}

std::vector<Order> orders_of(const Settings& settings, const Layout& layout, const WorldFacts& facts) {
  std::vector<Order> orders(layout.hosts.size());
  for (HostIndex host = 0; host < orders.size(); ++host) {
    orders[host] = {.command = settings.command,
                    .folder = settings.folder,
                    .must_have_folder = settings.must_have_folder,
                    .environment = settings.environment,
                    .inherits_environment = settings.inherits_environment,
                    .local_size = layout.local_size(host),
                    .bind = settings.bind,
                    .devices_per_rank = settings.devices_per_rank,
                    .input = settings.input};
  }
  for (const Seat& seat : layout.seats) {
    orders[seat.host].ranks.push_back({.rank = seat.rank,
                                       .local_rank = seat.local_rank,
                                       .variables = variables_of(layout, facts, seat, settings.environment)});
  }
  return orders;
}

std::string names_text(const std::vector<std::string>& names) {
  const std::size_t count = std::min(names.size(), kNamesMax);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count), ", "));
  if (names.size() > count) text += fmt::format(" and {} more", names.size() - count);
  return text;
}

std::string waiting_text(std::size_t host_count, const std::vector<std::string>& missing) {
  return fmt::format("waiting for {} of {} host{}: {}", missing.size(), host_count, host_count == 1 ? "" : "s",
                     names_text(missing));
}

}  // namespace tutti::launch
