// What the agents of a job are told to start, once all of them have answered. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/message.h"
#include "launch/settings.h"
#include "launch/variables.h"

namespace tutti::launch {

// Whether a host of the user's list is the machine called `machine`, on which the launcher runs.
bool is_this_machine(std::string_view host, std::string_view machine);

// By which name or number each host is reached by the others. A job on this machine alone stays inside it.
std::vector<std::string> addresses_of(const Settings& settings, const Layout& layout, std::string_view machine);

// One order for each host of the layout.
std::vector<Order> orders_of(const Settings& settings, const Layout& layout, const WorldFacts& facts);

// "waiting for 3 of 64 hosts: a, b, c": the names of some when there are many.
std::string waiting_text(std::size_t host_count, const std::vector<std::string>& missing);
std::string names_text(const std::vector<std::string>& names);

}  // namespace tutti::launch
