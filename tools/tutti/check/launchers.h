// What `tutti check` finds of the programs that start processes on other hosts.
#pragma once

#include "tools/tutti/check/finding.h"

namespace tutti::tool::check {

Finding find_ssh();
// Slurm: whether it is here, and whether this process is inside an allocation.
Finding find_slurm();
// mpirun is never needed, but programs are started by it.
Finding find_mpi();

}  // namespace tutti::tool::check
