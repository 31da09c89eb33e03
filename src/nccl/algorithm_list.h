// What NCCL_ALGO and NCCL_PROTO say: lists of names, for all collectives or for single ones.
#pragma once

#include <string_view>
#include <vector>

#include "tutti/communicator.h"

namespace tutti::nccl {

// "Ring,Tree", "^NVLS" (all but), "allreduce:tree,ring;broadcast:ring"; upper and lower case are the same. In terms of
// our algorithms: Ring, Tree and PAT are families of them; those in switches (CollNet, NVLS) have no counterpart, so
// that a list of only these allows nothing, and leaving them out changes nothing. Only what is restricted is returned.
Result<std::vector<AllowedAlgorithms>> parse_algorithms(std::string_view text);

// The same with LL, LL128 and Simple, which mean nothing here: only slips are found.
Status validate_protocols(std::string_view text);

}  // namespace tutti::nccl
