// What a process says to a launcher that serves PMIx: Open MPI's mpirun, and srun with --mpi=pmix.
#pragma once

#include <string>
#include <string_view>

#include "base/deadline.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::bootstrap {

// Whether this build knows PMIx and its library is here, which is loaded with the first call.
Status validate_pmix();

// Rank 0's text for every rank of the job; every rank calls it. A program that uses MPI too may do so before and after.
Result<std::string> broadcast_by_pmix(Rank rank, std::string_view text, Deadline deadline);

}  // namespace tutti::bootstrap
