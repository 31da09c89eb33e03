// Programs that run side by side until all have ended or their time is over.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tutti/status.h"

namespace tutti::bench {

struct Command {
  std::vector<std::string> words;                  // the program, found in PATH, and its arguments
  std::map<std::string, std::string> environment;  // on top of ours
};

struct Outcome {
  std::string output;        // stdout of all
  std::string errors;        // stderr of all
  int exit_code = 0;         // the first that is not 0; 128 + n: ended by signal n
  bool is_late = false;      // it was stopped
  bool is_complete = false;  // the last line said that all was measured
  double wall_s = 0;
  double foreign_cores = 0;  // that programs of others kept busy meanwhile
};

// Once one fails, the others get a moment and are stopped: they would wait for it. Once all is measured, they get a
// little longer: MPICH over TCP does not always end. Interrupted: the programs are
// stopped and the status says so.
Result<Outcome> run_together(const std::vector<Command>& commands, double limit_s);

// From now on SIGINT and SIGTERM stop the programs of run_together.
void catch_interruptions();

}  // namespace tutti::bench
