#include "base/log_area.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "base/text.h"

namespace tutti {

namespace {

struct Word {
  std::string_view name;
  LogAreas areas;
};

constexpr LogAreas one(LogArea area) { return LogAreas::of(area); }

// Ours first, then NCCL's; what it has a word for and we have no lines about is no area.
constexpr std::array kWords = {
    Word{"start", one(LogArea::start)},
    Word{"network", one(LogArea::network)},
    Word{"calls", one(LogArea::calls)},
    Word{"plans", one(LogArea::plans)},
    Word{"memory", one(LogArea::memory)},
    Word{"settings", one(LogArea::settings)},
    Word{"all", LogAreas::all()},
    Word{"init", one(LogArea::start)},
    Word{"bootstrap", one(LogArea::start)},
    Word{"destroy", one(LogArea::start)},
    Word{"net", one(LogArea::network)},
    Word{"proxy", one(LogArea::network)},
    Word{"ras", one(LogArea::network)},
    Word{"coll", one(LogArea::calls)},
    Word{"call", one(LogArea::calls)},
    Word{"p2p", one(LogArea::calls)},
    Word{"graph", one(LogArea::plans)},
    Word{"tuning", one(LogArea::plans)},
    Word{"shm", one(LogArea::memory)},
    Word{"alloc", one(LogArea::memory)},
    Word{"alloc_host", one(LogArea::memory)},
    Word{"reg", one(LogArea::memory)},
    Word{"env", one(LogArea::settings)},
    Word{"nvls", LogAreas::none()},
    Word{"profile", LogAreas::none()},
};

const Word* find_word(std::string_view name) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  const auto found = std::ranges::find_if(
      kWords, [&](const Word& word) { return std::ranges::equal(word.name, name, {}, {}, lower); });
  return found == kWords.end() ? nullptr : &*found;
}

Status unknown(std::string_view name) {
  std::vector<std::string> known;
  for (const Word& word : kWords) known.emplace_back(word.name);
  const std::string suggestion = text::suggestion(name, known);
  return invalid_argument(fmt::format("'{}' is no area of the log{}", name,
                                      suggestion.empty() ? "; it takes start, network, calls, plans, memory, settings, "
                                                           "all, or NCCL's names of subsystems"
                                                         : suggestion));
}

}  // namespace

Result<LogAreas> parse_log_areas(std::string_view text) {
  text = text::trim(text);
  if (text.empty()) return LogAreas::all();
  const bool is_inverted = text.starts_with('^');
  if (is_inverted) text.remove_prefix(1);
  LogAreas areas = is_inverted ? LogAreas::all() : LogAreas::none();
  for (std::string_view name : text::split(text, ',')) {
    name = text::trim(name);
    const bool is_excluded = is_inverted || name.starts_with('^');
    if (name.starts_with('^')) name.remove_prefix(1);
    const Word* const word = find_word(name);
    if (word == nullptr) return unknown(name);
    areas = is_excluded ? areas.without(word->areas) : areas.with(word->areas);
  }
  return areas;
}

}  // namespace tutti
