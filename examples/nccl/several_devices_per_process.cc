// Several devices for each process of MPI, served by one thread: groups hold the calls of its devices together, those
// that make communicators too. The processes of a host share out its devices: with 4 for each, the first takes devices
// 0 to 3, the next one 4 to 7.
//
//   mpirun -np 2 example_nccl_several_devices_per_process_openmpi [DEVICES OF A PROCESS]    4 unless told
#include <memory>
#include <vector>

#include "part.h"
#include "world.h"

bool play(const World& world, int count) {
  const int ranks = world.size() * count;
  std::vector<std::unique_ptr<Part>> parts;
  for (int i = 0; i < count; ++i) {
    parts.push_back(std::make_unique<Part>(world.rank() * count + i, world.rank_on_host() * count + i));
  }

  const ncclUniqueId id = world.share_identifier();
  std::vector<ncclComm_t> comms(parts.size());
  check(ncclGroupStart());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    check(cudaSetDevice(parts[i]->device()));
    check(ncclCommInitRank(&comms[i], ranks, id, parts[i]->rank()));
  }
  check(ncclGroupEnd());

  check(ncclGroupStart());
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i]->add_up(comms[i]);
  check(ncclGroupEnd());

  bool is_right = true;
  for (auto& part : parts) is_right = part->is_right(world.host(), ranks) && is_right;
  for (ncclComm_t comm : comms) check(ncclCommDestroy(comm));
  return is_right;
}

int main(int argument_count, char** arguments) {
  const World world(&argument_count, &arguments);
  return world.exit_code(play(world, number_of(argument_count, arguments, 4)));
}
