#include "base/knobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/assert.h"
#include "base/text.h"

namespace tutti {

namespace {

constexpr std::size_t kValueBytesMax = 4096;  // the longest path; no value is longer

constexpr std::array<std::string_view, 4> kYes = {"1", "on", "yes", "true"};
constexpr std::array<std::string_view, 4> kNo = {"0", "off", "no", "false"};
// Set by those who run tests, looked at by no part of the library.
constexpr std::array<std::string_view, 1> kOfTests = {"TUTTI_SEED"};
// Set by launchers for each process: facts, no settings (bootstrap/env/launch.h).
constexpr std::array<std::string_view, 7> kOfLaunchers = {
    "TUTTI_RANK", "TUTTI_SIZE", "TUTTI_LOCAL_RANK", "TUTTI_LOCAL_SIZE", "TUTTI_STORE", "TUTTI_JOB", "TUTTI_JOB_ID"};

bool is_same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// A value as a message quotes it: on one line, and not longer than a line.
std::string quoted(std::string_view value) {
  constexpr std::size_t kShownMax = 80;
  std::string shown(value.substr(0, kShownMax));
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return fmt::format("'{}{}'", shown, value.size() > kShownMax ? "..." : "");
}

// "a, b or c"
std::string any_of_text(std::span<const std::string_view> words) {
  if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
  return fmt::format("{} or {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
}

// A number alone is meant in seconds.
std::optional<double> seconds_of(std::string_view text) {
  const auto alone = text::real_of(text);
  return alone ? alone : text::seconds_of(text);
}

std::optional<KnobValue> number_of(const Knob& knob, std::string_view text) {
  const auto is_within = [&](double number) { return number >= knob.least && number <= knob.most; };
  switch (knob.type) {
    case KnobType::seconds:
      if (const auto seconds = seconds_of(text); seconds && is_within(*seconds))
        return std::chrono::nanoseconds(std::llround(*seconds * 1e9));
      break;
    case KnobType::bytes:
      if (const auto bytes = text::bytes_of(text); bytes && is_within(static_cast<double>(*bytes)))
        return static_cast<std::int64_t>(*bytes);
      break;
    case KnobType::integer:
      if (const auto number = text::integer_of<std::int64_t>(text); number && is_within(static_cast<double>(*number)))
        return *number;
      break;
    case KnobType::boolean:
    case KnobType::choice:
    case KnobType::text: break;
  }
  return std::nullopt;
}

std::optional<KnobValue> value_of(const Knob& knob, std::string_view text) {
  if (!knob.instead.empty() && is_same_word(text, knob.instead)) return KnobInstead{};
  const auto is_text = [text](std::string_view word) { return is_same_word(word, text); };
  switch (knob.type) {
    case KnobType::boolean:
      if (std::ranges::any_of(kYes, is_text)) return true;
      if (std::ranges::any_of(kNo, is_text)) return false;
      return std::nullopt;
    case KnobType::choice: {
      const auto found = std::ranges::find_if(knob.choices, is_text);
      if (found == knob.choices.end()) return std::nullopt;
      return static_cast<std::int64_t>(found - knob.choices.begin());
    }
    case KnobType::text: return std::string(text);
    case KnobType::seconds:
    case KnobType::bytes:
    case KnobType::integer: return number_of(knob, text);
  }
  return std::nullopt;
}

std::string_view not_text(KnobType type) {
  switch (type) {
    case KnobType::seconds: return "not a time";
    case KnobType::bytes: return "not a size";
    case KnobType::boolean: return "neither yes nor no";
    case KnobType::integer: return "not a whole number";
    case KnobType::choice:
    case KnobType::text: return "not known";
  }
  return "";
}

// Of the kind that the knob takes, whether within its limits or not.
bool is_number(const Knob& knob, std::string_view text) {
  switch (knob.type) {
    case KnobType::seconds: return seconds_of(text).has_value();
    case KnobType::bytes: return text::bytes_of(text).has_value();
    case KnobType::integer: return text::integer_of<std::int64_t>(text).has_value();
    case KnobType::boolean:
    case KnobType::choice:
    case KnobType::text: return false;
  }
  return false;
}

std::string with_value(std::string_view variable, std::string_view value) {
  return fmt::format("{}={}", variable, quoted(value));
}

// What the other library's value is in our words.
Result<std::string> translated(const Knob& knob, const std::string& theirs) {
  if (knob.translations.empty()) return theirs;
  const auto is_it = [&](const KnobTranslation& each) { return is_same_word(each.theirs, theirs); };
  const auto found = std::ranges::find_if(knob.translations, is_it);
  if (found != knob.translations.end()) return std::string(found->ours);
  std::vector<std::string_view> words;
  for (const KnobTranslation& each : knob.translations) words.push_back(each.theirs);
  return invalid_argument(fmt::format("{} is not known; it takes {}, and {} takes {}", quoted(theirs),
                                      any_of_text(words), knob.name, allowed_text(knob)));
}

std::string shown(const Knob& knob, const std::string& value) { return knob.is_secret ? "set" : value; }

void take(KnobReading& reading, std::string_view variable, const std::string& given, const Result<std::string>& ours) {
  const auto value = ours ? parse_knob(*reading.knob, *ours) : Result<KnobValue>(ours.status());
  reading.variable = variable;
  if (!value) {
    reading.error = fmt::format("{}: {}", variable, value.status().text());
    reading.text = shown(*reading.knob, given);
    return;
  }
  reading.value = *value;
  reading.text = shown(*reading.knob, *ours);
}

KnobReading read_knob(const Knob& knob, const KnobLookup& lookup) {
  const auto find = [&](std::string_view name) {
    auto value = name.empty() ? std::nullopt : lookup(name);
    return value && value->empty() ? std::nullopt : value;
  };
  const auto standard = value_of(knob, knob.standard);
  TUTTI_ASSERT(standard.has_value(), "defaults are good values");
  KnobReading reading{.knob = &knob, .value = *standard, .text = std::string(knob.standard)};
  const auto ours = find(knob.name);
  const auto theirs = find(knob.alias);
  if (ours) {
    take(reading, knob.name, *ours, *ours);
  } else if (theirs) {
    take(reading, knob.alias, *theirs, translated(knob, *theirs));
  }
  if (ours && theirs) {
    const auto meant = translated(knob, *theirs);
    if (!meant || !is_same_word(*meant, *ours))
      reading.note =
          fmt::format("{} counts, {} does not", with_value(knob.name, *ours), with_value(knob.alias, *theirs));
  }
  return reading;
}

}  // namespace

std::string allowed_text(const Knob& knob) {
  const std::string instead = knob.instead.empty() ? "" : fmt::format("{} or ", knob.instead);
  switch (knob.type) {
    case KnobType::seconds:
      return fmt::format("{}seconds such as 60, 1.5s or 500ms, from {} to {:.0f} s", instead,
                         text::seconds_text(knob.least), knob.most);
    case KnobType::bytes:
      return fmt::format("{}bytes such as 65536, 64K or 1M, from {} to {}", instead,
                         text::bytes_text(static_cast<std::uint64_t>(knob.least)),
                         text::bytes_text(static_cast<std::uint64_t>(knob.most)));
    case KnobType::integer:
      return fmt::format("{}a whole number from {:.0f} to {:.0f}", instead, knob.least, knob.most);
    case KnobType::boolean: return fmt::format("{}, or {}", fmt::join(kYes, ", "), fmt::join(kNo, ", "));
    case KnobType::choice: return any_of_text(knob.choices);
    case KnobType::text: return fmt::format("{}a text", instead);
  }
  return "";
}

Result<KnobValue> parse_knob(const Knob& knob, std::string_view text) {
  if (text.size() > kValueBytesMax)
    return invalid_argument(fmt::format("{} has {} bytes; {} are allowed", knob.is_secret ? "it" : quoted(text),
                                        text.size(), kValueBytesMax));
  if (auto value = value_of(knob, text)) return *std::move(value);
  const std::string_view wrong = is_number(knob, text) ? "outside of what is allowed" : not_text(knob.type);
  return invalid_argument(fmt::format("{} is {}; it takes {}", quoted(text), wrong, allowed_text(knob)));
}

std::vector<KnobReading> read_knobs(const KnobLookup& lookup) {
  std::vector<KnobReading> readings;
  readings.reserve(kKnobCount);
  for (const Knob& knob : all_knobs()) readings.push_back(read_knob(knob, lookup));
  return readings;
}

std::vector<std::string> unknown_knobs(std::span<const std::string> names) {
  std::vector<std::string> known;
  for (const Knob& knob : all_knobs()) known.emplace_back(knob.name);
  std::vector<std::string> sentences;
  for (const std::string& name : names) {
    if (!name.starts_with("TUTTI_") || std::ranges::find(known, name) != known.end() ||
        std::ranges::find(kOfTests, name) != kOfTests.end() ||
        std::ranges::find(kOfLaunchers, name) != kOfLaunchers.end()) {
      continue;
    }
    const std::string suggestion = text::suggestion(name, known);
    sentences.push_back(fmt::format("{} is no setting{}", name,
                                    suggestion.empty() ? "; 'tutti env' lists those that are" : suggestion));
  }
  return sentences;
}

Result<Knobs> Knobs::read(const KnobLookup& lookup) {
  std::vector<KnobReading> readings = read_knobs(lookup);
  std::vector<std::string> errors;
  for (const KnobReading& reading : readings) {
    if (!reading.error.empty()) errors.push_back(reading.error);
  }
  if (!errors.empty()) return invalid_argument(fmt::format("{}", fmt::join(errors, "; ")));
  return Knobs(std::move(readings));
}

Knobs Knobs::standard() {
  return Knobs(read_knobs([](std::string_view) { return std::nullopt; }));
}

std::optional<std::chrono::nanoseconds> Knobs::late_warning() const {
  if (std::holds_alternative<KnobInstead>(value(KnobId::late_warning))) return std::nullopt;
  return seconds(KnobId::late_warning);
}

std::size_t Knobs::memory_limit() const {
  if (std::holds_alternative<KnobInstead>(value(KnobId::memory_limit))) return 0;
  return static_cast<std::size_t>(number(KnobId::memory_limit));
}

std::optional<std::string_view> Knobs::congestion() const {
  if (std::holds_alternative<KnobInstead>(value(KnobId::congestion))) return std::nullopt;
  return text(KnobId::congestion);
}

bool Knobs::encrypt() const { return std::get<bool>(value(KnobId::encrypt)); }
bool Knobs::cudart_trace() const { return std::get<bool>(value(KnobId::cudart_trace)); }

std::string_view Knobs::variable_of(KnobId id) const {
  const KnobReading& reading = readings_[static_cast<std::size_t>(id)];
  return reading.variable.empty() ? reading.knob->name : reading.variable;
}

std::vector<std::string> Knobs::notes() const {
  std::vector<std::string> notes;
  for (const KnobReading& reading : readings_) {
    if (!reading.note.empty()) notes.push_back(reading.note);
  }
  return notes;
}

}  // namespace tutti
