// What was measured: the times of every contender for every case, over the repeats.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/plan.h"
#include "tutti/types.h"

namespace tutti::bench {

struct Case {
  plan::Collective collective = plan::Collective::all_reduce;
  Rank ranks = 2;
  std::uint64_t bytes = 0;
  auto operator<=>(const Case&) const = default;
};

double median(std::vector<double> values);         // of at least one
double spread(const std::vector<double>& values);  // (largest - smallest) / median

struct Best {
  std::string contender;
  double median_s = 0;
  double spread = 0;
};

class Samples {
 public:
  void add(const Case& what, const std::string& contender, double seconds) {
    times_[what][contender].push_back(seconds);
  }
  // A result that was wrong counts for nothing, but is not forgotten.
  void add_wrong(const Case& what, const std::string& contender) { ++wrong_[what][contender]; }
  // From what a contender printed; lines that say nothing are skipped.
  void add_output(std::string_view output, const std::string& contender);

  std::vector<Case> cases() const;
  std::vector<std::string> contenders(const Case& what) const;
  std::vector<double> times(const Case& what, const std::string& contender) const;  // empty: it did not take part
  std::optional<Best> of(const Case& what, std::string_view contender) const;
  std::optional<Best> best_peer(const Case& what) const;  // the smallest median of those that are not ours
  int wrong_count(const Case& what, const std::string& contender) const;
  int wrong_count(std::string_view contender) const;  // over all cases

 private:
  template <class Value>
  using Table = std::map<Case, std::map<std::string, Value>>;
  Table<std::vector<double>> times_;
  Table<int> wrong_;
};

}  // namespace tutti::bench
