#include "tools/tutti/check/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace tutti::tool::check {

namespace {

constexpr std::size_t kNameColumnsMax = 16;  // longer names are cut at the front: hosts differ at the end
constexpr std::size_t kNumberColumns = 6;
constexpr std::size_t kPercentColumns = 3;
constexpr std::size_t kBlocksMax = 64;

// Of 256 colours: red, orange, yellow, light green, green.
constexpr std::array<int, 5> kBackgrounds = {196, 208, 220, 148, 40};

struct Unit {
  std::string_view name;
  double size;
};

// The largest unit in which the median is at least 1.
Unit unit_of(Quantity quantity, double median) {
  static constexpr std::array<Unit, 3> kTimes = {{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}}};
  static constexpr std::array<Unit, 3> kRates = {{{"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}}};
  const auto& units = quantity == Quantity::seconds ? kTimes : kRates;
  for (const Unit& unit : units) {
    if (median >= unit.size) return unit;
  }
  return units.back();
}

std::string cut(const std::string& name) {
  return name.size() <= kNameColumnsMax ? name : name.substr(name.size() - kNameColumnsMax);
}

// Three digits that count.
std::string number_text(double value) {
  if (value >= 99'999) return ">99999";
  return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

std::string coloured(std::string_view text, double good, bool has_colour) {
  if (!has_colour) return std::string(text);
  const auto step = static_cast<std::size_t>(std::clamp(good * 5.0, 0.0, 4.0));
  return fmt::format("\x1b[30;48;5;{}m{}\x1b[0m", kBackgrounds[step], text);
}

// One picture in one form: how wide a cell is, and what stands in it.
class Painter {
 public:
  Painter(std::span<const std::string> names, const Grid& grid, Quantity quantity, const HeatMapStyle& style)
      : names_(names), grid_(grid), better_(better_of(quantity)), median_(grid.median()), style_(style) {
    unit_ = unit_of(quantity, median_);
    for (const std::string& name : names) margin_ = std::max(margin_, cut(name).size());
  }

  std::string paint(const std::string& title) const {
    const std::size_t room = style_.columns_max - std::min(style_.columns_max, margin_ + 1);
    const std::size_t count = names_.size();
    if (count * kNumberColumns <= room) return fmt::format("{} ({})\n{}", title, unit_.name, numbers());
    if (count * kPercentColumns <= room) {
      return fmt::format("{} (percent of the median {} {}, 100 and more are 99)\n{}", title,
                         number_text(median_ / unit_.size), unit_.name, percents());
    }
    const std::size_t places = std::clamp<std::size_t>(std::min(room, kBlocksMax), 1, count);
    const std::size_t block = (count + places - 1) / places;
    const std::string scale = fmt::format("tenths of the median {} {}", number_text(median_ / unit_.size), unit_.name);
    const std::string blocks = block == 1 ? "" : fmt::format(", the worst of {} hosts each way", block);
    return fmt::format("{} ({}{})\n{}", title, scale, blocks, digits(block));
  }

 private:
  double good(double value) const { return goodness(value, median_, better_); }

  std::string numbers() const {
    std::string text = fmt::format("{:<{}}", "", margin_);
    for (std::size_t to = 0; to < names_.size(); ++to) text += fmt::format("{:>6}", column_name(to));
    text += "\n";
    return text + rows([&](std::size_t from, std::size_t to) -> std::string {
             if (from == to) return fmt::format("{:>6}", "--");
             const auto& cell = grid_.at(from, to);
             if (!cell) return fmt::format("{:>6}", "?");
             return " " +
                    coloured(fmt::format("{:>5}", number_text(*cell / unit_.size)), good(*cell), style_.has_colour);
           });
  }

  std::string percents() const {
    return rows([&](std::size_t from, std::size_t to) -> std::string {
      if (from == to) return " --";
      const auto& cell = grid_.at(from, to);
      if (!cell) return "  ?";
      const int percent = static_cast<int>(std::clamp(good(*cell) * 100, 0.0, 99.0));
      return " " + coloured(fmt::format("{:2}", percent), good(*cell), style_.has_colour);
    });
  }

  std::string digits(std::size_t block) const {
    std::string text;
    for (std::size_t from = 0; from < names_.size(); from += block) {
      text += fmt::format("{:<{}} ", cut(names_[from]), margin_);
      for (std::size_t to = 0; to < names_.size(); to += block) text += digit(from, to, block);
      text += "\n";
    }
    return text;
  }

  std::string digit(std::size_t from, std::size_t to, std::size_t block) const {
    std::optional<double> worst;
    bool has_gap = false;
    for (std::size_t row = from; row < std::min(from + block, names_.size()); ++row) {
      for (std::size_t column = to; column < std::min(to + block, names_.size()); ++column) {
        if (row == column) continue;
        const auto& cell = grid_.at(row, column);
        has_gap = has_gap || !cell;
        if (cell) worst = std::min(worst.value_or(good(*cell)), good(*cell));
      }
    }
    if (has_gap) return "?";
    if (!worst) return "-";
    return coloured(std::to_string(static_cast<int>(std::clamp(*worst * 10, 0.0, 9.0))), *worst, style_.has_colour);
  }

  template <class Cell>
  std::string rows(const Cell& cell_text) const {
    std::string text;
    for (std::size_t from = 0; from < names_.size(); ++from) {
      text += fmt::format("{:<{}}", cut(names_[from]), margin_);
      for (std::size_t to = 0; to < names_.size(); ++to) text += cell_text(from, to);
      text += "\n";
    }
    return text;
  }

  // What fits above a number, with a blank before it.
  std::string column_name(std::size_t host) const {
    const std::string& name = names_[host];
    return name.size() < kNumberColumns ? name : name.substr(name.size() - (kNumberColumns - 1));
  }

  std::span<const std::string> names_;
  const Grid& grid_;
  Better better_;
  double median_;
  HeatMapStyle style_;
  Unit unit_ = {};
  std::size_t margin_ = 0;
};

}  // namespace

Better better_of(Quantity quantity) { return quantity == Quantity::seconds ? Better::low : Better::high; }

double goodness(double value, double median, Better better) {
  if (value <= 0 || median <= 0) return 0;
  return better == Better::high ? value / median : median / value;
}

std::string heat_map(const std::string& title, std::span<const std::string> names, const Grid& grid, Quantity quantity,
                     const HeatMapStyle& style) {
  return Painter(names, grid, quantity, style).paint(title);
}

}  // namespace tutti::tool::check
