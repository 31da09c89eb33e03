// One thing that `tutti check` has looked at: how it is, and what would help.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::tool::check {

enum class State : std::uint8_t {
  good,
  slower,   // works, but something would help
  missing,  // what processes of a job need and do not have
};

std::string_view name_of(State state);  // "ok", "slower", "missing"

struct Finding {
  State state = State::good;
  std::string what = {};
  std::string text = {};
  std::string remedy = {};                // empty where nothing is to be done
  std::vector<std::string> details = {};  // a line each, below the text
  bool operator==(const Finding&) const = default;
};

bool is_usable(std::span<const Finding> findings);  // nothing is missing

}  // namespace tutti::tool::check
