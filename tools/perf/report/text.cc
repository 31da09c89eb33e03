#include "tools/perf/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti::perf {

namespace {

// What no shell gives a meaning to.
bool is_plain(char c) {
  constexpr std::string_view kPlain = "-_./,:=+@%";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

std::string shell_word(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

template <class Question>
bool any_row(const Run& run, Question question) {
  return std::any_of(run.rows.begin(), run.rows.end(), question);
}

}  // namespace

std::string html_escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: {
        const bool is_control = static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t';
        if (is_control) {
          safe += "\xef\xbf\xbd";  // the replacement character
        } else {
          safe += c;
        }
      }
    }
  }
  return safe;
}

std::string command_text(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string decimal_text(double value) {
  if (!std::isfinite(value)) return "n/a";
  const double size = std::abs(value);
  if (size >= 999.95) return fmt::format("{:.0f}", value);
  if (size >= 99.995) return fmt::format("{:.1f}", value);
  if (size >= 0.995 || size == 0) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
}

std::string wrong_text(const std::optional<std::int64_t>& wrong) { return wrong ? fmt::format("{}", *wrong) : "n/a"; }

bool has_distributions(const Run& run) {
  return any_row(run, [](const Row& row) {
    return (row.out_of_place && row.out_of_place->distribution) || (row.in_place && row.in_place->distribution);
  });
}

bool has_estimates(const Run& run) {
  return any_row(run, [](const Row& row) { return row.estimate_us.has_value(); });
}

bool has_plans(const Run& run) {
  return any_row(run, [](const Row& row) { return row.plan.has_value(); });
}

}  // namespace tutti::perf
