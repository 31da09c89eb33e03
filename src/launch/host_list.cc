#include "launch/host_list.h"

#include <fmt/format.h>

#include "base/text.h"
#include "launch/host_table.h"

namespace tutti::launch {

std::vector<std::string_view> split_host_list(std::string_view list) {
  std::vector<std::string_view> words;
  bool is_inside = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] == '[') is_inside = true;
    if (list[at] == ']') is_inside = false;
    if (list[at] != ',' || is_inside) continue;
    words.push_back(list.substr(begin, at - begin));
    begin = at + 1;
  }
  words.push_back(list.substr(begin));
  return words;
}

Result<std::vector<Host>> parse_host_list(std::string_view list, int standard_slots) {
  HostTable table;
  for (const std::string_view given : split_host_list(list)) {
    const std::string_view word = text::trim(given);
    if (word.empty()) {
      return invalid_argument("the list of hosts has an empty name; write it as host1:4,host2:4");
    }
    TUTTI_ASSIGN(const HostWord parts, host_word_of(word));
    int slots = standard_slots;
    if (!parts.slots.empty()) {
      const auto number = slots_of(parts.slots);
      if (!number) return number.status().while_doing(fmt::format("host {}", parts.name.substr(0, 80)));
      slots = *number;
    }
    TUTTI_TRY(table.add(parts.name, slots));
  }
  return std::move(table).take();
}

}  // namespace tutti::launch
