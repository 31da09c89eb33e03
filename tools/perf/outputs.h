// The files that a run leaves, and what is said about it at the end.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/perf/options.h"
#include "tools/perf/results.h"
#include "tutti/status.h"
#include "tutti/topology.h"

namespace tutti::perf {

struct Judgement {
  std::string text;  // lines that begin with "# "
  bool is_slower = false;
};

// Opened before anything is measured, so that nothing is lost because a folder does not exist.
class Outputs {
 public:
  Status open(const Options& options);
  // What people are told about it at the beginning.
  const std::string& note() const { return note_; }
  // Compares, and adds remarks to the run.
  Result<Judgement> judge(Run& run, const Options& options) const;
  Status write(const Run& run, const Options& options);

 private:
  std::string json_path_;  // where nothing was before
  std::string note_;
  std::optional<Run> baseline_;
  std::optional<topology::Topology> topology_;
  std::vector<std::pair<std::string, Run>> overlays_;
};

// Below a row: how the library runs it, what it expects, who was slow.
std::vector<std::string> lines_about(const Row& row, const Options& options);

}  // namespace tutti::perf
