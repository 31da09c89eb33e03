#include "launch/host_file.h"

#include <fmt/format.h>

#include <optional>
#include <span>

#include "base/text.h"
#include "launch/host_table.h"

namespace tutti::launch {
namespace {

struct Line {
  std::string name = {};
  std::optional<int> slots = {};
  int slots_max = 0;
};

Status take_setting(std::string_view word, Line& line) {
  const auto equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const bool is_most = name == "max_slots" || name == "max-slots";
  if (equals == std::string_view::npos || (name != "slots" && !is_most)) {
    return invalid_argument(fmt::format("'{}' is not known behind a host; write 'host slots=4 max_slots=8' or 'host:4'",
                                        word.substr(0, 40)));
  }
  TUTTI_ASSIGN(const int number, slots_of(word.substr(equals + 1)));
  if (is_most) {
    line.slots_max = number;
  } else if (line.slots) {
    return invalid_argument(fmt::format("host {} has two numbers of slots; leave one away", line.name.substr(0, 80)));
  } else {
    line.slots = number;
  }
  return {};
}

Result<Line> line_of(std::span<const std::string_view> words) {
  TUTTI_ASSIGN(HostWord host, host_word_of(words.front()));
  Line line{.name = std::move(host.name)};
  if (!host.slots.empty()) {
    TUTTI_ASSIGN(line.slots, slots_of(host.slots));
  }
  for (const std::string_view word : words.subspan(1)) TUTTI_TRY(take_setting(word, line));
  return line;
}

Status take_line(std::string_view text, int standard_slots, HostTable& table) {
  const auto words = text::words(text.substr(0, text.find('#')));
  if (words.empty()) return {};
  TUTTI_ASSIGN(const Line line, line_of(words));
  return table.add(line.name, line.slots.value_or(standard_slots), line.slots_max);
}

}  // namespace

Result<std::vector<Host>> parse_host_file(std::string_view text, int standard_slots) {
  HostTable table;
  std::size_t number = 0;
  for (const std::string_view line : text::split(text, '\n')) {
    ++number;
    if (const Status status = take_line(line, standard_slots, table); !status) {
      return status.while_doing(fmt::format("line {}", number));
    }
  }
  std::vector<Host> hosts = std::move(table).take();
  if (hosts.empty()) return invalid_argument("it names no host; write a line 'host slots=4' for each");
  return hosts;
}

}  // namespace tutti::launch
