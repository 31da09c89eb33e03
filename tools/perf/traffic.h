// Who sends how much to whom in alltoallv: by distance, or as a file says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/status.h"

namespace tutti::perf {

class Traffic {
 public:
  // Farther ranks get more: 0 is the same to all, 1 in proportion to the distance.
  explicit Traffic(double spread = 1) : spread_(spread) {}
  // A square of numbers, bytes from the row's rank to the column's, each times `scale`. `name` is that of the file.
  static Result<Traffic> parse(std::string_view text, const std::string& name, double scale);
  static Result<Traffic> read(const std::string& path, double scale);

  bool is_fixed() const { return dimension_ > 0; }  // sizes do not change it
  int dimension() const { return dimension_; }
  // Multiples of 16. total_bytes is what each rank sends in all.
  std::uint64_t bytes(int source, int target, int ranks, std::uint64_t total_bytes) const;
  // The most that any rank sends or receives.
  std::uint64_t largest_bytes(int ranks, std::uint64_t total_bytes) const;

 private:
  double spread_ = 1;
  int dimension_ = 0;
  std::vector<std::uint64_t> matrix_;
};

}  // namespace tutti::perf
