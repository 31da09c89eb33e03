// How a job ends: what to do when a rank or a host fails or somebody wants the end, and what is said about it. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "launch/layout.h"
#include "launch/message.h"

namespace tutti::launch {

// What the launcher has to do now.
enum class Measure : std::uint8_t {
  none,
  stop,  // Stop with the grace, to every host
  kill,  // Stop with no grace, to every host
};

// Time goes in with every event; nothing here waits. After the first failure everything that follows is a consequence,
// unless it came by itself before anybody was stopped.
class Verdict {
 public:
  Verdict(const Layout& layout, std::chrono::milliseconds grace) : layout_(&layout), grace_(grace) {}

  Measure ended(const Ended& ended, Time now);
  Measure cannot_start(const CannotStart& failure, Time now);
  Measure host_lost(HostIndex host, const std::string& why, Time now);  // and its ranks with it
  Measure interrupted(int signal, Time now);                            // the first time politely, the second at once
  Measure timed_out(std::chrono::seconds limit, Time now);

  bool is_over() const;      // every rank has ended or is lost
  bool is_stopping() const;  // somebody failed or the user wants the end
  int exit_code() const;     // 0, that of the first failure (128 + signal), 130 after Ctrl-C, 124 after a timeout

  // The first failure: rank, host, exit code or signal, core; then `last_lines` of its stderr, indented; then which
  // ranks failed by themselves as well, and which were ended because of it. Empty when all went well.
  struct Culprit {
    Rank rank = kNoRank;  // kNoRank: a host
    HostIndex host = 0;
  };
  std::optional<Culprit> culprit() const;
  std::vector<std::string> report(const std::vector<std::string>& last_lines) const;

 private:
  const Layout* layout_;
  std::chrono::milliseconds grace_;
};

}  // namespace tutti::launch
