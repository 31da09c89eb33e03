#include "launch/output/tail.h"

#include <algorithm>

#include "base/text.h"

namespace tutti::launch {

namespace {

constexpr std::string_view kCut = "...";

// Behind the escape sequence at `index`: ESC [ parameters letter, ESC ] text BEL, or ESC and one character.
std::size_t end_of_escape(std::string_view text, std::size_t index) {
  if (++index == text.size()) return index;
  if (text[index] == ']') return std::min(text.find('\a', index), text.size() - 1) + 1;
  if (text[index] != '[') return index + 1;
  for (++index; index < text.size(); ++index)
    if (text[index] >= '@' && text[index] <= '~') return index + 1;
  return index;
}

std::string readable(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  line.remove_prefix(line.rfind('\r') + 1);  // npos + 1 is 0
  std::string text;
  for (std::size_t index = 0; index < line.size();) {
    if (line[index] == '\033') {
      index = end_of_escape(line, index);
      continue;
    }
    const auto character = static_cast<unsigned char>(line[index++]);
    if (character == '\t' || (character >= ' ' && character != 0x7f)) text += static_cast<char>(character);
  }
  return text;
}

// Between characters, not within one of UTF-8.
std::string shortened(std::string line, bool begins_cut) {
  const auto is_within = [&](std::size_t index) {
    return index < line.size() && (static_cast<unsigned char>(line[index]) & 0xc0) == 0x80;
  };
  if (begins_cut) {  // of a line without a beginning the end is worth most
    std::size_t begin = line.size() - std::min(line.size(), Tail::kLineBytesMax);
    while (is_within(begin)) ++begin;
    return std::string(kCut) + line.substr(begin);
  }
  if (line.size() <= Tail::kLineBytesMax) return line;
  std::size_t end = Tail::kLineBytesMax;
  while (end > 0 && is_within(end)) --end;
  return line.substr(0, end) + std::string(kCut);
}

}  // namespace

void Tail::take(Stream stream, std::string_view bytes) {
  if (stream == Stream::out && is_stderr_) return;
  if (stream == Stream::err && !is_stderr_) {
    is_stderr_ = true;
    is_cut_ = false;
    bytes_.clear();
  }
  if (bytes.size() >= kBytesMax) {
    is_cut_ = is_cut_ || !bytes_.empty() || bytes.size() > kBytesMax;
    bytes_.assign(bytes.substr(bytes.size() - kBytesMax));
    return;
  }
  if (bytes_.size() + bytes.size() > 2 * kBytesMax) {
    bytes_.erase(0, bytes_.size() + bytes.size() - kBytesMax);
    is_cut_ = true;
  }
  bytes_.append(bytes);
}

std::vector<std::string> Tail::lines() const {
  std::string_view bytes = bytes_;
  if (bytes.ends_with('\n')) bytes.remove_suffix(1);
  if (bytes.empty()) return {};
  std::vector<std::string_view> parts = text::split(bytes, '\n');
  bool begins_cut = is_cut_;
  if (begins_cut && parts.size() > 1) {
    parts.erase(parts.begin());
    begins_cut = false;
  }
  if (parts.size() > kLinesMax) parts.erase(parts.begin(), parts.end() - kLinesMax);
  std::vector<std::string> lines;
  for (const std::string_view part : parts) lines.push_back(shortened(readable(part), begins_cut));
  return lines;
}

}  // namespace tutti::launch
