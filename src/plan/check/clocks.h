// What each lane knows of the progress of all others: vector clocks that travel with messages and tokens.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace tutti::plan {

class Clocks {
 public:
  explicit Clocks(std::size_t lanes) : lanes_(lanes), known_(lanes * lanes, 0) {}

  // Steps of lane `other` that happened before what lane `lane` does now.
  std::uint32_t known(std::uint32_t lane, std::uint32_t other) const { return row(lane)[other]; }
  void advance(std::uint32_t lane, std::uint32_t steps_done) { row(lane)[lane] = steps_done; }

  using Snapshot = std::vector<std::uint32_t>;
  Snapshot take(std::uint32_t lane) {
    Snapshot snapshot;
    if (!spare_.empty()) {
      snapshot = std::move(spare_.back());
      spare_.pop_back();
    }
    snapshot.assign(row(lane), row(lane) + lanes_);
    return snapshot;
  }
  void join(std::uint32_t lane, const Snapshot& other) {
    std::uint32_t* mine = row(lane);
    for (std::size_t i = 0; i < lanes_; ++i) mine[i] = mine[i] > other[i] ? mine[i] : other[i];
  }
  void give_back(Snapshot&& snapshot) { spare_.push_back(std::move(snapshot)); }

 private:
  std::uint32_t* row(std::uint32_t lane) { return known_.data() + lane * lanes_; }
  const std::uint32_t* row(std::uint32_t lane) const { return known_.data() + lane * lanes_; }

  std::size_t lanes_;
  std::vector<std::uint32_t> known_;
  std::vector<Snapshot> spare_;
};

}  // namespace tutti::plan
