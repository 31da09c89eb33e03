#include "base/log.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::error: return "error";
    case LogLevel::warning: return "warning";
    case LogLevel::info: return "info";
    case LogLevel::debug: return "debug";
  }
  return "";
}

namespace log {

std::atomic<int> detail::level_limit{-1};
std::atomic<std::uint8_t> detail::areas{LogAreas::all().bits()};

namespace {

std::atomic<Sink> installed_sink{nullptr};

}  // namespace

void install(Sink sink, LogLevel level) {
  // The sink before the level: who sees the level finds a sink.
  if (sink != nullptr) installed_sink.store(sink, std::memory_order_release);
  detail::level_limit.store(sink == nullptr ? -1 : static_cast<int>(level), std::memory_order_release);
  if (sink == nullptr) installed_sink.store(nullptr, std::memory_order_release);
}

void set_areas(LogAreas areas) { detail::areas.store(areas.bits(), std::memory_order_relaxed); }

std::string line_of(LogLevel level, Rank rank, std::string_view text) {
  constexpr std::string_view kCut = "...";
  std::string line = rank == kNoRank ? fmt::format("tutti: {}: {}", name_of(level), text)
                                     : fmt::format("tutti: [{}] {}: {}", rank, name_of(level), text);
  if (line.size() >= kLineBytesMax) {
    line.resize(kLineBytesMax - 1 - kCut.size());
    line += kCut;
  }
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  line += '\n';
  return line;
}

void write(LogLevel level, Rank rank, std::string_view text) {
  if (!is_on(level)) return;
  if (const Sink sink = installed_sink.load(std::memory_order_acquire)) sink(line_of(level, rank, text));
}

void write(LogLevel level, Rank rank, LogArea area, std::string_view text) {
  if (is_on(level, area)) write(level, rank, text);
}

}  // namespace log

}  // namespace tutti
