#include "launch/output/lines.h"

#include <algorithm>
#include <cstring>

#include "launch/output/tags.h"

namespace tutti::launch {

namespace {

constexpr char kEscape = '\033';

bool has(std::string_view text, char character) {
  return !text.empty() && std::memchr(text.data(), character, text.size()) != nullptr;
}

// What a terminal shows of a line in which later text has overwritten earlier text: the last part that is not empty.
std::string_view visible_part(std::string_view line) {
  if (!has(line, '\r')) return line;
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const std::size_t before = line.rfind('\r');
  return before == std::string_view::npos ? line : line.substr(before + 1);
}

}  // namespace

void Lines::take(std::string_view bytes, std::string_view mark, Time now, std::string& to) {
  if (bytes.empty()) return;
  if (company_ == Company::alone) return pass(bytes, mark, to);
  const std::size_t last_end = bytes.rfind('\n');
  std::size_t begin = 0;
  if (last_end != std::string_view::npos) {
    if (!rest_.empty() || has_shown_bar_) {
      const std::size_t end = bytes.find('\n');
      rest_.append(bytes.substr(0, end));
      const bool is_end_of_bar = has_shown_bar_ && rest_.find_first_not_of('\r') == std::string::npos;
      if (!is_end_of_bar) show(rest_, mark, to);
      rest_.clear();
      has_shown_bar_ = false;
      begin = end + 1;
    }
    take_whole_lines(bytes.substr(begin, last_end + 1 - begin), mark, to);
    begin = last_end + 1;
  }
  if (begin < bytes.size()) take_rest(bytes.substr(begin), mark, now, to);
}

void Lines::take_whole_lines(std::string_view bytes, std::string_view mark, std::string& to) {
  const bool is_plain = !has(bytes, '\r') && !has(bytes, kEscape);
  while (!bytes.empty()) {
    const auto* end = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
    const auto length = static_cast<std::size_t>(end - bytes.data());
    if (is_plain && length <= line_bytes_max_) {
      to.append(mark);
      to.append(bytes.data(), length + 1);
    } else {
      show(bytes.substr(0, length), mark, to);
    }
    bytes.remove_prefix(length + 1);
  }
}

void Lines::take_rest(std::string_view bytes, std::string_view mark, Time now, std::string& to) {
  rest_.append(bytes);
  const std::size_t last_return = rest_.rfind('\r');
  if (last_return != std::string::npos && last_return != 0) {
    // What stands before the last return is a whole state of a bar; what follows may be half of the next one.
    const std::string_view bar = visible_part(std::string_view(rest_).substr(0, last_return));
    if (!bar.empty() && now >= bar_after_) {
      show(bar, mark, to);
      bar_after_ = Deadline::after(now, kBarInterval).at;
      has_shown_bar_ = true;
      rest_.erase(0, last_return + 1);
    } else if (last_return + 1 < rest_.size()) {
      rest_.erase(0, last_return);  // keeps the return: this is a bar
    } else {
      rest_ = std::string(bar) + '\r';
    }
  }
  if (rest_.size() > line_bytes_max_) end(mark, to);
}

void Lines::show(std::string_view line, std::string_view mark, std::string& to) {
  line = visible_part(line);
  do {
    const std::string_view piece = line.substr(0, line_bytes_max_);
    line.remove_prefix(piece.size());
    to.append(mark);
    to.append(piece);
    if (has(piece, kEscape) && !piece.ends_with(kColourReset)) to.append(kColourReset);
    to += '\n';
  } while (!line.empty());
}

void Lines::pass(std::string_view bytes, std::string_view mark, std::string& to) {
  const bool has_returns = has(bytes, '\r');
  while (!bytes.empty()) {
    if (place_ == Place::line_start || (place_ == Place::after_return && bytes.front() != '\n')) to.append(mark);
    const std::size_t end = has_returns ? bytes.find_first_of("\r\n") : bytes.find('\n');
    const std::size_t length = end == std::string_view::npos ? bytes.size() : end + 1;
    to.append(bytes.substr(0, length));
    place_ = end == std::string_view::npos ? Place::within
             : bytes[end] == '\n'          ? Place::line_start
                                           : Place::after_return;
    bytes.remove_prefix(length);
  }
}

void Lines::end(std::string_view mark, std::string& to) {
  if (!is_within_line()) return;
  if (company_ == Company::alone) {
    to += '\n';
    place_ = Place::line_start;
    return;
  }
  if (rest_.find_first_not_of('\r') != std::string::npos) show(rest_, mark, to);
  rest_.clear();
  has_shown_bar_ = false;
}

}  // namespace tutti::launch
