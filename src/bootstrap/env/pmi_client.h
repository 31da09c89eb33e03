// What a process says to a launcher with PMI-1: MPICH's mpirun, and srun with --mpi=pmi2.
#pragma once

#include <string>
#include <string_view>

#include "base/deadline.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::bootstrap {

// Whether PMI_FD is still the launcher's socket: programs in between may have closed it, as many do with what they do
// not know.
Status validate_pmi(int descriptor);

// Rank 0's text for every rank; every rank calls it, once. The text has printable letters without blanks. The
// descriptor stays open, and the launcher takes the process as done with PMI afterwards.
Result<std::string> broadcast_by_pmi(int descriptor, Rank rank, std::string_view text, Deadline deadline);

}  // namespace tutti::bootstrap
