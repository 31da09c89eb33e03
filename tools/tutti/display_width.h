// Texts from outside on a terminal: how many columns they take, and cut or filled to a number of columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::tool {

// What can be shown: control characters and bytes that are not UTF-8 become '?', so that nothing moves the cursor.
std::string printable(std::string_view text);

// Columns of a printable text. Letters of East Asia and pictures take two, marks upon letters none.
std::size_t width_of(std::string_view text);

enum class Side : std::uint8_t { left, right };

// Exactly `width` columns, blanks on the other side; a longer text is cut and ends in '~'.
std::string fitted(std::string_view text, std::size_t width, Side side = Side::left);
// At most `width` columns.
std::string cut(std::string_view text, std::size_t width);

}  // namespace tutti::tool
