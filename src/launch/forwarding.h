// Which variables of the launcher's environment the ranks get too. Pure.
#pragma once

#include <string_view>

#include "launch/job.h"
#include "launch/settings.h"
#include "tutti/status.h"

namespace tutti::launch {

// Why a variable stays behind: "it says the place of a process"; empty: it goes along.
std::string_view reason_to_keep(std::string_view name, Starter starter);

// Those that go along, in order.
Variables forwarded(const Variables& environment, Starter starter);

// "NAME=VALUE", or "NAME" for the value in `environment`. The failure names what is wrong with it.
Result<std::pair<std::string, std::string>> parse_assignment(std::string_view text, const Variables& environment);

// A file with an assignment a line; "#" at the begin of a line is a comment, quotes around a value are taken away and
// nothing else is changed. Failures name the line.
Result<Variables> parse_environment_file(std::string_view text, const Variables& environment);

// Sets a variable, in its place where it is there already.
void set_variable(Variables& variables, std::string_view name, std::string value);
const std::string* find_variable(const Variables& variables, std::string_view name);  // nullptr: not set

}  // namespace tutti::launch
