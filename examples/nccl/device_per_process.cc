// One device for each process of MPI: the first process of a host takes device 0, the next one device 1, and so on.
//
//   mpirun -np 4 example_nccl_device_per_process_openmpi
#include "part.h"
#include "world.h"

bool play(const World& world) {
  Part part(world.rank(), world.rank_on_host());
  const ncclUniqueId id = world.share_identifier();
  ncclComm_t comm = nullptr;
  check(ncclCommInitRank(&comm, world.size(), id, world.rank()));
  part.add_up(comm);
  const bool is_right = part.is_right(world.host(), world.size());
  check(ncclCommDestroy(comm));
  return is_right;
}

int main(int argument_count, char** arguments) {
  const World world(&argument_count, &arguments);
  return world.exit_code(play(world));
}
