#include "launch/output/tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::launch {

namespace {

// No plain red among them: that says "error" to people. Neighbours differ in hue.
constexpr std::array<std::uint8_t, 12> kPalette = {32, 130, 29, 133, 100, 62, 166, 30, 169, 64, 99, 67};

}  // namespace

std::span<const std::uint8_t> rank_palette() { return kPalette; }

std::string tag_text(Tag tag, bool has_colour, Rank rank, Rank size, Stream stream) {
  std::string text;
  switch (tag) {
    case Tag::none: return {};
    case Tag::rank: text = fmt::format("[{:>{}}]", rank, fmt::formatted_size("{}", std::max(size - 1, 0))); break;
    case Tag::open_mpi: text = fmt::format("[1,{}]<{}>:", rank, stream == Stream::out ? "stdout" : "stderr"); break;
  }
  if (has_colour) {
    const auto colour = kPalette[static_cast<std::size_t>(rank) % kPalette.size()];
    text = fmt::format("\033[38;5;{}m{}{}", colour, text, kColourReset);
  }
  return tag == Tag::rank ? text + ' ' : text;
}

bool wants_colour(Colour colour, const ColourFacts& facts) {
  switch (colour) {
    case Colour::always: return true;
    case Colour::never: return false;
    case Colour::automatic: break;
  }
  return facts.is_terminal && facts.no_colour.empty() && !facts.terminal.empty() && facts.terminal != "dumb";
}

}  // namespace tutti::launch
