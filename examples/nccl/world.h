// The processes that mpirun, mpiexec or srun has started, and where this one is among them. Calls of MPI need no
// checks: unless told otherwise, MPI itself says what is wrong and ends the program.
#pragma once

#include <mpi.h>
#include <nccl.h>

#include <cstdio>
#include <string>

#include "part.h"

class World {
 public:
  World(int* argument_count, char*** arguments) {
    MPI_Init(argument_count, arguments);
    static char lines[BUFSIZ];  // launchers mix what processes write, so that lines are written whole
    std::setvbuf(stdout, lines, _IOLBF, sizeof(lines));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    MPI_Get_processor_name(name, &length);
    host_ = std::string(name, static_cast<std::size_t>(length)) + ":";

    MPI_Comm neighbours = MPI_COMM_NULL;  // the processes of this host, in the order of all
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &neighbours);
    MPI_Comm_rank(neighbours, &rank_on_host_);
    MPI_Comm_free(&neighbours);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() { MPI_Finalize(); }

  int rank() const { return rank_; }
  int size() const { return size_; }
  int rank_on_host() const { return rank_on_host_; }
  const char* host() const { return host_.c_str(); }

  // One process makes the identifier, and MPI carries it to the others.
  ncclUniqueId share_identifier() const {
    ncclUniqueId id{};
    if (rank_ == 0) check(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD);
    return id;
  }

  // The exit code of every process: 0 only when all of them had the right sums. The first says so.
  int exit_code(bool is_right) const {
    const int mine[2] = {is_right ? 0 : 1, rank_on_host_ == 0 ? 1 : 0};
    int all[2] = {0, 0};  // processes with wrong sums, and hosts
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank_ == 0) {
      std::printf("%d processes, %d %s: %s\n", size_, all[1], all[1] == 1 ? "host" : "hosts",
                  all[0] == 0 ? "all sums are right" : "there are wrong sums");
    }
    return all[0] == 0 ? 0 : 1;
  }

 private:
  int rank_ = 0;
  int size_ = 0;
  int rank_on_host_ = 0;
  std::string host_;
};
