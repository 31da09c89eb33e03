// The processes of a run: which one this is, and what they tell each other before there is a communicator.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/store.h"
#include "tutti/status.h"

namespace tutti::perf {

class Processes {
 public:
  // As the launcher's variables say; this one alone where there is none.
  static Result<Processes> join();

  int rank() const { return rank_; }
  int size() const { return size_; }
  // What every process gives, by process. All of them exchange the same things in the same order.
  Result<std::vector<std::string>> exchange(std::string_view what, std::string_view mine);
  // Nothing more will be exchanged.
  Status leave();

 private:
  int rank_ = 0;
  int size_ = 1;
  std::unique_ptr<bootstrap::Store> store_;  // nullptr: alone
};

// The same for all processes of one host, and different on others.
std::string host_identity();

}  // namespace tutti::perf
