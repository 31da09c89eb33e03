// What `tutti top` shows of a job, as lines. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/job_view.h"

namespace tutti::tool::top {

enum class Order : std::uint8_t {
  rank,
  cpu,      // the busiest first
  memory,   // the largest first
  waiting,  // whom most others wait for first, then those who wait
};

struct Size {
  std::size_t columns = 80;
  std::size_t rows = 24;
  bool operator==(const Size&) const = default;
};

struct View {
  Size size = {};
  Order order = Order::rank;
  std::size_t first = 0;                // row of the table at the top, from 0; more than there are means the last page
  bool has_footer = true;               // the keys
  std::optional<double> silent_s = {};  // how long the launcher has not answered, if that is worth a word
};

enum class Look : std::uint8_t { plain, heading, footer };

struct Line {
  std::string text;  // printable, at most `columns` wide
  Look look = Look::plain;
  bool operator==(const Line&) const = default;
};

// At most as many lines as there are rows.
std::vector<Line> frame_of(const launch::JobStatus& job, const View& view, Time now);

// How many ranks a screen of that size shows at a time, at least 1.
std::size_t page_rows(const Size& size, bool has_footer);
// The farthest that `first` makes sense.
std::size_t first_max(const launch::JobStatus& job, const Size& size);

// "3 ranks wait for rank 5 (gpu2)": the rank that most others wait for. Empty: nobody waits.
std::string waiting_text(const launch::JobStatus& job);

}  // namespace tutti::tool::top
