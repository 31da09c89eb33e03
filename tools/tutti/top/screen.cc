#include "tools/tutti/top/screen.h"

#include <fmt/format.h>

#include "tools/tutti/display_width.h"

namespace tutti::tool::top {

namespace {

constexpr std::string_view kBeginFrame = "\x1b[?2026h";
constexpr std::string_view kEndFrame = "\x1b[?2026l";

std::string_view style_of(Look look) {
  switch (look) {
    case Look::plain: return "";
    case Look::heading: return "\x1b[7m";
    case Look::footer: return "\x1b[2m";
  }
  return "";
}

// The rest of the row is cleared behind the text, so that no row is ever empty in between. A text that fills the row
// leaves nothing to clear, and clearing there would take its last letter.
std::string row_text(std::size_t row, const Line& line, std::size_t columns) {
  const std::string text = cut(line.text, columns);
  const std::string_view style = style_of(line.look);
  return fmt::format("\x1b[{};1H{}{}{}{}", row + 1, style, text, style.empty() ? "" : "\x1b[0m",
                     width_of(text) < columns ? "\x1b[K" : "");
}

}  // namespace

std::string Screen::draw(const std::vector<Line>& lines, const Size& size) {
  if (size != size_) is_known_ = false;
  std::string changes;
  std::vector<Line> next = lines;
  next.resize(size.rows);
  for (std::size_t row = 0; row < size.rows; ++row) {
    if (is_known_ && shown_[row] == next[row]) continue;
    changes += row_text(row, next[row], size.columns);
  }
  shown_ = std::move(next);
  size_ = size;
  is_known_ = true;
  if (changes.empty()) return "";
  return fmt::format("{}{}{}", kBeginFrame, changes, kEndFrame);
}

}  // namespace tutti::tool::top
