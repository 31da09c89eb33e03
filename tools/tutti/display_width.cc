#include "tools/tutti/display_width.h"

#include <algorithm>
#include <array>
#include <span>

namespace tutti::tool {

namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;
};

// The first character of a text that is not empty.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3fu);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};  // by bytes: a longer form is not valid
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes, true};
}

struct Span {
  char32_t first;
  char32_t last;
};

bool is_in(std::span<const Span> spans, char32_t code) {
  return std::ranges::any_of(spans, [code](const Span& span) { return code >= span.first && code <= span.last; });
}

constexpr std::array<Span, 9> kNoWidth = {{{0x0300, 0x036f},
                                           {0x0483, 0x0489},
                                           {0x0591, 0x05bd},
                                           {0x064b, 0x065f},
                                           {0x200b, 0x200f},
                                           {0x20d0, 0x20ff},
                                           {0xfe00, 0xfe0f},
                                           {0xfe20, 0xfe2f},
                                           {0xfeff, 0xfeff}}};
constexpr std::array<Span, 9> kTwoColumns = {{{0x1100, 0x115f},
                                              {0x2e80, 0x303e},
                                              {0x3041, 0xa4cf},
                                              {0xac00, 0xd7a3},
                                              {0xf900, 0xfaff},
                                              {0xfe30, 0xfe6f},
                                              {0xff00, 0xff60},
                                              {0x1f300, 0x1faff},
                                              {0x20000, 0x3fffd}}};
// Line ends, and marks that turn the direction of what follows.
constexpr std::array<Span, 5> kControls = {
    {{0x00, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x202e}, {0x2066, 0x2069}, {0x061c, 0x061c}}};

std::size_t width_of_code(char32_t code) {
  if (is_in(kNoWidth, code)) return 0;
  return is_in(kTwoColumns, code) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character next = first_of(text);
    if (!next.is_valid || is_in(kControls, next.code)) {
      result += '?';
    } else {
      result += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character next = first_of(text);
    width += width_of_code(next.code);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string cut(std::string_view text, std::size_t width) {
  const std::string whole = printable(text);
  if (width_of(whole) <= width) return whole;
  if (width == 0) return "";
  std::string result;
  std::size_t used = 0;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const Character next = first_of(rest);
    const std::size_t columns = width_of_code(next.code);
    if (used + columns > width - 1) break;
    result += rest.substr(0, next.bytes);
    used += columns;
    rest.remove_prefix(next.bytes);
  }
  return result + '~';
}

std::string fitted(std::string_view text, std::size_t width, Side side) {
  std::string result = cut(text, width);
  const std::string blanks(width - width_of(result), ' ');
  return side == Side::left ? result + blanks : blanks + result;
}

}  // namespace tutti::tool
