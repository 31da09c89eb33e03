#include "tools/tutti/top/keys.h"

#include <array>
#include <optional>
#include <string_view>

namespace tutti::tool::top {

namespace {

struct Sequence {
  std::string_view bytes;
  Key key;
};

constexpr std::array<Sequence, 27> kSequences = {
    {{"q", Key::quit},       {"Q", Key::quit},          {"\x03", Key::quit},         {"r", Key::by_rank},
     {"c", Key::by_cpu},     {"m", Key::by_memory},     {"w", Key::by_waiting},      {"k", Key::up},
     {"j", Key::down},       {"b", Key::page_up},       {" ", Key::page_down},       {"g", Key::first},
     {"G", Key::last},       {"\x1b[A", Key::up},       {"\x1bOA", Key::up},         {"\x1b[B", Key::down},
     {"\x1bOB", Key::down},  {"\x1b[5~", Key::page_up}, {"\x1b[6~", Key::page_down}, {"\x1b[H", Key::first},
     {"\x1bOH", Key::first}, {"\x1b[1~", Key::first},   {"\x1b[7~", Key::first},     {"\x1b[F", Key::last},
     {"\x1bOF", Key::last},  {"\x1b[4~", Key::last},    {"\x1b[8~", Key::last}}};

// The bytes of an unknown sequence: up to its last letter. 0: it has not come whole.
std::size_t unknown_bytes(std::string_view typed) {
  if (typed[0] != '\x1b') return 1;
  if (typed.size() < 2) return 0;
  if (typed[1] == 'O') return typed.size() < 3 ? 0 : 3;
  if (typed[1] != '[') return 1;
  constexpr std::size_t kSequenceMax = 16;
  for (std::size_t i = 2; i < typed.size(); ++i) {
    if (typed[i] >= '@' && typed[i] <= '~') return i + 1;
    if (i >= kSequenceMax) return i;
  }
  return 0;
}

}  // namespace

std::vector<Key> take_keys(std::string& typed) {
  std::vector<Key> keys;
  std::string_view rest = typed;
  while (!rest.empty()) {
    std::size_t taken = 0;
    for (const Sequence& each : kSequences) {
      if (!rest.starts_with(each.bytes)) continue;
      keys.push_back(each.key);
      taken = each.bytes.size();
      break;
    }
    if (taken == 0) taken = unknown_bytes(rest);
    if (taken == 0) break;
    rest.remove_prefix(taken);
  }
  typed.erase(0, typed.size() - rest.size());
  return keys;
}

}  // namespace tutti::tool::top
