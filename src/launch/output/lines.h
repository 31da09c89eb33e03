// Makes marked lines of the bytes that one stream of one rank gives. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/deadline.h"

namespace tutti::launch {

// Whether others write to the same place. Then lines appear only whole, and a progress bar (text that ends in a
// carriage return, to be overwritten by the next) becomes a line of its own at most once in kBarInterval, since one
// screen line cannot hold the bars of several. The last state of a bar is always shown. A line that has colours gets a
// reset at its end.
// A stream that is alone passes on what comes as it comes, bars and prompts included, with the mark wherever a line
// begins.
enum class Company : std::uint8_t { alone, shared };

class Lines {
 public:
  static constexpr std::chrono::seconds kBarInterval{1};

  // A line longer than `line_bytes_max` is cut into several: what has no end must not be kept without limit.
  Lines(Company company, std::size_t line_bytes_max) : company_(company), line_bytes_max_(line_bytes_max) {}

  // Appends what can be shown now to `to`; `mark` goes before every line.
  void take(std::string_view bytes, std::string_view mark, Time now, std::string& to);
  // Ends a line that has begun.
  void end(std::string_view mark, std::string& to);
  bool is_within_line() const { return company_ == Company::alone ? place_ != Place::line_start : !rest_.empty(); }

 private:
  enum class Place : std::uint8_t { line_start, after_return, within };

  void pass(std::string_view bytes, std::string_view mark, std::string& to);
  void take_whole_lines(std::string_view bytes, std::string_view mark, std::string& to);
  void take_rest(std::string_view bytes, std::string_view mark, Time now, std::string& to);
  void show(std::string_view line, std::string_view mark, std::string& to);

  Company company_;
  std::size_t line_bytes_max_;
  Place place_ = Place::line_start;  // of a stream that is alone
  std::string rest_;                 // of a shared one: a line that has not ended
  bool has_shown_bar_ = false;       // nothing has come since
  Time bar_after_;                   // the next bar may be shown then
};

}  // namespace tutti::launch
