// Starts a program, on a host of a lab or here, and waits for its end with a limit: for launchers, which must be asked
// to end what they have started elsewhere.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tests/network/lab/process.h"

namespace tutti::lab {

using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

inline constexpr std::chrono::seconds kLimit(60);
inline constexpr std::chrono::seconds kGrace(10);       // for a launcher to end what it has started
inline constexpr std::chrono::milliseconds kLook(100);  // between looks at what a program has said

// Instead of an exit code, for what had to be ended: at the limit, or some time after its last words.
inline constexpr int kOvertime = -1;
inline constexpr int kSpoken = -2;

struct Ending {
  int exit_code = kOvertime;
  std::string output;  // stdout and stderr together
};

// What a program is started with besides its words.
struct Circumstances {
  pid_t keeper = kThisMachine;  // of its host
  Environment environment = {};
  std::string folder = {};      // where it starts; empty: where we are
  std::string last_words = {};  // after these it has kGrace to end; empty: kLimit is all it has
};

// A launcher that takes too long is asked to end before it is killed, since its processes are not in its group.
Ending launch(const Words& words, const Circumstances& circumstances);

// Whether there is a program of that name in PATH or where daemons lie.
bool has_program(const std::string& name);

}  // namespace tutti::lab
