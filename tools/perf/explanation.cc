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

// The calls of this thread's ranks as a group that the caller ends.
Status open_group(const Job& job, const Case& test, std::span<const Station> stations) {
  TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  return start_calls(job, test, stations, 0);
}

}  // namespace

Result<Explanation> explain_calls(const Job& job, const Case& test, std::span<const Station> stations) {
  Explanation explanation;
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  TUTTI_TRY(open_group(job, test, stations));
  TUTTI_TRY(of_nccl(ncclGroupSimulateEnd(&info), "ncclGroupSimulateEnd"));
  if (info.estimatedTime > 0) explanation.estimate_us = info.estimatedTime;
  if (const ExplainGroup explain = find_explain()) {
    const char* text = nullptr;
    TUTTI_TRY(open_group(job, test, stations));
    TUTTI_TRY(of_nccl(explain(&text), "tuttiNcclGroupExplainEnd"));
    if (text != nullptr) explanation.plan = text;
  }
  return explanation;
}

std::string library_name(int version) {
  if (find_explain() != nullptr) return "Tutti " TUTTI_VERSION;
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace tutti::perf
