// How lines say whose they are: the text before each, and its colour. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "launch/message.h"
#include "launch/output/printer.h"
#include "tutti/types.h"

namespace tutti::launch {

inline constexpr std::string_view kColourReset = "\033[0m";

// Colours of the 256 that every terminal of today has. All are of middle brightness: they stand out on black and on
// white.
std::span<const std::uint8_t> rank_palette();

// "[ 3] " as wide as the largest rank of `size`, or "[1,3]<stderr>:", with the colour of the rank around it.
std::string tag_text(Tag tag, bool has_colour, Rank rank, Rank size, Stream stream);

// What the environment says, for a descriptor that is a terminal or not.
struct ColourFacts {
  bool is_terminal = false;
  std::string no_colour = {};  // NO_COLOR
  std::string terminal = {};   // TERM
};
bool wants_colour(Colour colour, const ColourFacts& facts);

}  // namespace tutti::launch
