// Warns, once a call, of ranks that live and keep this one waiting: who they are, and what they do instead.
#pragma once

#include <string>
#include <vector>

#include "comm/operation.h"
#include "comm/side.h"

namespace tutti::comm {

// Of one call. What others do is asked first and known a moment later.
class Lateness {
 public:
  // To be called again and again while the call waits for longer than the settings allow without a word.
  void look(const Side& side, const Operation& operation, std::chrono::nanoseconds waited);

 private:
  // A member that is waited for.
  struct Late {
    Rank member = kNoRank;
    std::string activity;  // "has not made this call ..."; empty: not known yet
    bool is_in_call = false;
  };

  static Late late_of(const Side& side, const Operation& operation, Rank member);
  static std::vector<Late> all_late(const Side& side, const Operation& operation);
  std::string portrait_of(const Side& side, const Operation& operation, Rank member);

  bool has_warned_ = false;
  Time began_;
  std::vector<std::pair<Rank, std::string>> seen_;  // portraits that were made here
};

}  // namespace tutti::comm
