#include "tools/tutti/check/finding.h"

#include <algorithm>

namespace tutti::tool::check {

std::string_view name_of(State state) {
  switch (state) {
    case State::good: return "ok";
    case State::slower: return "slower";
    case State::missing: return "missing";
  }
  return "";
}

bool is_usable(std::span<const Finding> findings) {
  return std::ranges::none_of(findings, [](const Finding& finding) { return finding.state == State::missing; });
}

}  // namespace tutti::tool::check
