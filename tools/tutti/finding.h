// One line of `tutti check`: a thing, how it is, and what would help.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::tool {

enum class State : std::uint8_t { good, slower, missing };

struct Finding {
  State state = State::good;
  std::string what = {};
  std::string text = {};
  std::string remedy = {};                // empty where nothing is to be done
  std::vector<std::string> details = {};  // a line each, below the text
};

}  // namespace tutti::tool
