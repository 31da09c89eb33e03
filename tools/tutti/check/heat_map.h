// A number for every pair of hosts as a picture of characters: numbers always, colours on a terminal. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/tutti/check/cluster.h"

namespace tutti::tool::check {

enum class Better : std::uint8_t { high, low };
enum class Quantity : std::uint8_t { seconds, bytes_per_second };

struct HeatMapStyle {
  bool has_colour = false;
  std::size_t columns_max = 120;  // of the terminal; the wider forms are used where they fit
};

// Rows send, columns receive. Forms, from wide to narrow:
//   numbers    in one unit, which the title names
//   percents   of the median, two digits; 99 for that and more where high is better
//   digits     tenths of the median
//   blocks     tenths again, one digit for the worst of several neighbours each way
// In all but the first a cell is the better the higher it is. "--": the host itself; "?": not measured.
std::string heat_map(const std::string& title, std::span<const std::string> names, const Grid& grid, Quantity quantity,
                     const HeatMapStyle& style);

Better better_of(Quantity quantity);

// How good a value is compared with the median: 1 is as good, 0.5 half as good.
double goodness(double value, double median, Better better);

}  // namespace tutti::tool::check
