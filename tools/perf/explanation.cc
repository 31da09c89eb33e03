#include "tools/perf/explanation.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/text.h"
#include "tools/perf/failure.h"
#include "tutti/version.h"

namespace tutti::perf {

namespace {

// Only Tutti's library has it, so it is looked for where the program runs.
using ExplainGroup = ncclResult_t (*)(const char** text);

ExplainGroup find_explain() { return reinterpret_cast<ExplainGroup>(dlsym(RTLD_DEFAULT, "tuttiNcclGroupExplainEnd")); }

// Of an explanation: what the first line asks, the next two answer: "direct all_reduce over 8 ranks on 2 cores: 18.98
// us" and how that works.
std::string plan_of(std::string_view explanation) {
  const auto lines = text::split(explanation, '\n');
  if (lines.size() < 2) return std::string(explanation);
  std::string plan(lines[1].substr(0, lines[1].rfind(": ")));
  if (lines.size() > 2) plan += fmt::format(" ({})", text::trim(lines[2]));
  return plan;
}

// The calls of this thread's ranks as a group that the caller ends.
Status open_group(const Job& job, const Case& test, std::span<const Station> stations) {
  TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  return start_calls(job, test, stations, 0);
}

}  // namespace

Result<Explanation> explain_calls(const Job& job, const Case& test, std::span<const Station> stations) {
  Explanation explanation;
  if (job.collective.rounds(job.ranks) > 1) return explanation;  // no group holds all of it
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  TUTTI_TRY(open_group(job, test, stations));
  TUTTI_TRY(of_nccl(ncclGroupSimulateEnd(&info), "ncclGroupSimulateEnd"));
  if (info.estimatedTime > 0) explanation.estimate_us = info.estimatedTime;
  if (const ExplainGroup explain = find_explain()) {
    const char* text = nullptr;
    TUTTI_TRY(open_group(job, test, stations));
    TUTTI_TRY(of_nccl(explain(&text), "tuttiNcclGroupExplainEnd"));
    if (text != nullptr) explanation.plan = plan_of(text);
  }
  return explanation;
}

bool is_tutti_library() { return find_explain() != nullptr; }

std::string library_name(int version) {
  if (is_tutti_library()) return "Tutti " TUTTI_VERSION;
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace tutti::perf
