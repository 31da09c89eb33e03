#include "nccl/estimate.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace tutti::nccl {

Status validate_sim_info(const ncclSimInfo_t& info) {
  constexpr unsigned int kMagic = 0x74685283;
  if (info.magic == kMagic && info.size >= offsetof(ncclSimInfo_t, estimatedTime) + sizeof(float)) return {};
  return invalid_argument(
      "the information was not initialised; begin with ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER");
}

double estimate_us(std::span<const Enqueued> calls) {
  std::map<const ncclComm*, double> seconds;
  for (const Enqueued& call : calls) seconds[call.comm.get()] += call.comm->side->estimate_s(call.call);
  double longest = 0;
  for (const auto& [comm, taken] : seconds) longest = std::max(longest, taken);
  return longest * 1e6;
}

std::string explain(std::span<const Enqueued> calls) {
  std::string text;
  for (const Enqueued& call : calls) {
    if (call.comm != calls.front().comm) continue;
    if (!text.empty()) text += "\n";
    text += call.comm->side->explain(call.call);
  }
  return text;
}

}  // namespace tutti::nccl
