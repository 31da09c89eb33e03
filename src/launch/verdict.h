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
#include "tutti/status.h"

namespace tutti::launch {

// What the launcher has to do now.
enum class Measure : std::uint8_t {
  none,
  stop,  // Stop with the grace, to every host; ordered at most once
  kill,  // Stop with no grace, to every host; at most once, and after a stop
};

// Exit codes that are not those of a rank.
inline constexpr int kTimeoutCode = 124;      // as of timeout(1)
inline constexpr int kCannotStartCode = 127;  // as of a shell
inline constexpr int kHostLostCode = 255;     // as of ssh
inline constexpr int kOutputLostCode = 1;     // 128 + SIGPIPE where it is the reader who left
inline constexpr int kSignalCodeBase = 128;   // and the signal

// Time goes in with every event; nothing here waits. After the first failure everything that follows is a consequence,
// unless it came by itself before anybody was stopped. Events about ranks and hosts that are unknown or have ended
// change nothing.
class Verdict {
 public:
  Verdict(const Layout& layout, std::chrono::milliseconds grace);

  void begin(Time now);  // ranks are told to start: what "after 12.3 s" counts from
  Measure ended(const Ended& ended, Time now);
  Measure cannot_start(const CannotStart& failure, Time now);
  Measure host_lost(HostIndex host, const std::string& why, Time now);  // and its ranks with it
  Measure interrupted(int signal, Time now);                            // the first time politely, the second at once
  Measure timed_out(std::chrono::seconds limit, Time now);
  Measure output_lost(const Status& why, Time now);  // the printer's failure

  bool is_over() const { return running_ == 0; }               // every rank has ended or is lost
  bool is_stopping() const { return cause_.has_value(); }      // somebody failed or the user wants the end
  int exit_code() const { return cause_ ? cause_->code : 0; }  // that of the first failure (128 + signal)

  // For people, about what the last event has brought; empty when there is nothing to say.
  const std::string& sentence() const { return sentence_; }

  struct Culprit {
    Rank rank = kNoRank;  // kNoRank: a host
    HostIndex host = 0;
  };
  std::optional<Culprit> culprit() const;  // of the first failure; nobody when the user wanted the end

  // The first failure: rank, host, exit code or signal, core; then `last_lines` of its output, indented; then which
  // ranks failed by themselves as well, and which were ended because of it. Empty when all went well.
  std::vector<std::string> report(const std::vector<std::string>& last_lines) const;

 private:
  enum class Fate : std::uint8_t { running, well, failed, stopped, lost };
  struct RankEnd {
    Fate fate = Fate::running;
    Time at = {};
    std::string how = {};  // of one that failed by itself
  };
  struct Cause {
    Time at = {};
    int code = 0;
    std::optional<Culprit> culprit = {};
    std::string text = {};  // the first line of the report
  };
  struct HostEnd {
    HostIndex host = 0;
    std::string why = {};
  };

  RankEnd* running_rank(Rank rank);
  void settle(RankEnd& rank, Fate fate, Time now);
  Measure fail(Rank rank, int code, const std::string& how, Time now);
  Measure stop(Cause cause);
  std::string rank_text(Rank rank) const;
  std::string duration_text(Time now) const;
  std::vector<Rank> ranks_with(Fate fate) const;
  std::vector<std::string> others_that_failed() const;

  const Layout* layout_;
  std::chrono::milliseconds grace_;
  std::optional<Time> begin_;
  std::vector<RankEnd> ranks_;
  Rank running_ = 0;
  std::optional<Cause> cause_;
  std::vector<HostEnd> lost_hosts_;  // after the cause
  int interrupts_ = 0;
  bool has_killed_ = false;
  std::string sentence_;
};

}  // namespace tutti::launch
