// The store that the processes of a launched job share, without a library of MPI.
#pragma once

#include <memory>

#include "base/deadline.h"
#include "bootstrap/env/launch.h"
#include "bootstrap/store.h"

namespace tutti::bootstrap {

// Every process of the job calls it once, with the Launch of its environment. What they meet through is chosen from the
// Launch alone, so that all choose the same: the address in TUTTI_STORE, a socket where all are on one host, what the
// launcher itself passes on (PMI-1, PMIx), or an address on rank 0's host. Rank 0 keeps the store: its end waits a
// moment for those who still use it.
//
// PMI-1 ends with it for this process: a program that uses MPI too hands its bytes over by MPI.
Result<std::unique_ptr<Store>> open_launched_store(const Launch& launch, Deadline deadline);

// Where the launcher has not told it: asks all others on which host they are. Every process of the job calls it, once.
Status find_local_place(Launch& launch, Store& store, Deadline deadline);

}  // namespace tutti::bootstrap
