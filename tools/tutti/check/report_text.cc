#include "tools/tutti/check/report_text.h"

#include <fmt/format.h>

namespace tutti::tool::check {

namespace {

// The one word that has to be seen is in capitals.
std::string_view mark_of(State state) { return state == State::missing ? "MISSING" : name_of(state); }

std::string line(std::string_view mark, std::string_view what, std::string_view text) {
  return fmt::format("{:<8} {:<15} {}\n", mark, what, text);
}

}  // namespace

std::string text_of(const Finding& finding) {
  std::string text = line(mark_of(finding.state), finding.what, finding.text);
  for (const std::string& detail : finding.details) text += line("", "", detail);
  if (!finding.remedy.empty()) text += line("", "", "-> " + finding.remedy);
  return text;
}

std::string text_of(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings) text += text_of(finding);
  return text;
}

}  // namespace tutti::tool::check
