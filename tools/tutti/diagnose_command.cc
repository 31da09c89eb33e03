// `tutti diagnose`: reads what all ranks recorded and says in plain sentences who is to blame.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "comm/watch/diagnose.h"
#include "comm/watch/json.h"
#include "tools/tutti/command.h"

namespace tutti::tool {

namespace {

namespace fs = std::filesystem;
using comm::watch::Finding;
using comm::watch::Job;
using comm::watch::Recording;

struct DiagnoseOptions {
  std::vector<std::string> paths;
  bool is_json = false;
};

// Far more than a recorder holds.
constexpr std::uintmax_t kFileBytesMax = 64 << 20;

// What was read, and a sentence for each file that could not be.
struct Input {
  std::vector<Recording> recordings;
  std::vector<std::string> problems;
};

// A file that is given by name is read whatever it is called; in a folder, those that dumps are called like.
std::vector<fs::path> files_of(const std::vector<std::string>& paths, std::vector<std::string>& problems) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.emplace_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.starts_with("tutti-") && name.ends_with(".json")) files.push_back(entry->path());
    }
    if (error) problems.push_back(fmt::format("cannot read the folder '{}': {}", path, error.message()));
    if (!error && files.size() == before) {
      problems.push_back(fmt::format(
          "the folder '{}' has no recordings (tutti-*.json); set TUTTI_DUMP_DIR to it before the job starts", path));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A file holds a recording, or several in an array as `tutti inspect --json` prints them.
Status read_file(const fs::path& path, std::vector<Recording>& recordings) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) return invalid_argument(fmt::format("cannot read '{}': {}", path.string(), error.message()));
  if (bytes > kFileBytesMax) {
    return invalid_argument(
        fmt::format("'{}' has {}; no recording is that large", path.string(), text::bytes_text(bytes)));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return invalid_argument(fmt::format("cannot read '{}'", path.string()));
  auto parsed = comm::watch::parse_recordings(text.view());
  if (!parsed) return parsed.status().while_doing(path.string());
  std::move(parsed->begin(), parsed->end(), std::back_inserter(recordings));
  return {};
}

Input read_input(const std::vector<std::string>& paths) {
  Input input;
  for (const fs::path& path : files_of(paths, input.problems)) {
    if (const Status status = read_file(path, input.recordings); !status) input.problems.emplace_back(status.text());
  }
  return input;
}

void print(const Job& job, std::span<const Finding> findings) {
  fmt::print("communicator {:016x}: {} of {} ranks recorded", job.communicator, job.recordings.size(), job.size);
  if (!job.missing.empty()) fmt::print(", missing {}", text::list_text(job.missing));
  fmt::print("\n");
  if (findings.empty()) fmt::print("  nothing wrong was found\n");
  for (const Finding& finding : findings) fmt::print("  {}: {}\n", name_of(finding.trouble), finding.text);
}

int run_diagnose(const DiagnoseOptions& options) {
  Input input = read_input(options.paths);
  for (const std::string& problem : input.problems) fmt::print(stderr, "tutti: {}\n", problem);
  if (input.recordings.empty()) {
    if (input.problems.empty()) fmt::print(stderr, "tutti: no recording was given\n");
    return kExitUsage;
  }
  const std::vector<Job> jobs = comm::watch::jobs_of(std::move(input.recordings));
  std::vector<Finding> all;
  for (const Job& job : jobs) {
    const auto findings = comm::watch::diagnose(job);
    if (!options.is_json) print(job, findings);
    all.insert(all.end(), findings.begin(), findings.end());
  }
  if (options.is_json) fmt::print("{}", comm::watch::json_of(jobs, all));
  if (!all.empty()) return kExitFailed;
  return input.problems.empty() ? kExitDone : kExitUsage;
}

}  // namespace

void add_diagnose_command(CLI::App& root, Commands& commands) {
  const auto add_options = [](CLI::App& command, DiagnoseOptions& options) {
    command
        .add_option("PATH", options.paths,
                    "Folders with recordings, as TUTTI_DUMP_DIR names one, or files of 'tutti inspect --json'")
        ->required();
    command.add_flag("--json", options.is_json, "Print the findings as JSON");
  };
  commands.add<DiagnoseOptions>(
      root,
      {"diagnose", "Read what all ranks recorded and say who is behind, who made another call, who died.",
       "tutti diagnose dumps\ntutti diagnose node1.json node2.json\ntutti diagnose dumps --json"},
      add_options, run_diagnose);
}

}  // namespace tutti::tool
