// Inputs whose results are known exactly: what every element of every rank holds, and what a reduction makes of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/perf/element.h"

namespace tutti::perf {

// Every element belongs to one of 256 classes, by its index and the seed. What a class holds on each rank is a table,
// so what a reduction makes of it is one too: filling and checking cost one look-up an element, however many ranks
// there are. Where elements are only moved, the tables hold arbitrary bits. Where they are added up or multiplied, they
// hold numbers whose results are exact in the type in every order; integers wrap around.
class Pattern {
 public:
  static constexpr int kAllRanks = -1;  // as a source: the result of the reduction

  Pattern(const ElementType& type, Operation operation, int ranks);

  // Elements first, first + 1, ... of what the source holds. The target is a whole number of elements.
  void fill(std::span<std::byte> target, int source, std::uint64_t first, std::uint64_t seed) const;

  // What the result may differ by; 0 but for averages that cannot be exact: of floats, over a number of ranks that is
  // no power of two.
  double tolerance() const { return tolerance_; }
  const ElementType& type() const { return type_; }

  // By which each rank's input is multiplied, for mulsum.
  static double factor_of(int rank) { return rank % 2 == 0 ? 1 : 2; }

 private:
  static constexpr std::size_t kClasses = 256;
  using Table = std::array<std::uint64_t, kClasses>;

  int givers() const;  // of a class, at most
  double number(int rank, std::size_t index) const;
  std::uint64_t wrapped_result(std::size_t index) const;
  std::uint64_t float_result(std::size_t index) const;
  void fill_tables();

  ElementType type_;
  Operation operation_;
  int ranks_;
  double tolerance_ = 0;
  std::vector<Table> inputs_;  // by rank
  Table results_{};
};

}  // namespace tutti::perf
