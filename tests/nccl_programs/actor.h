// One player at work: its device memory, its streams, and the order between them.
#pragma once

#include <nccl.h>  // and the CUDA runtime

#include <deque>
#include <string>
#include <vector>

#include "tests/nccl_programs/model.h"
#include "tests/nccl_programs/program.h"

namespace tutti::programs {

class Actor {
 public:
  // Uses the calling thread; its device is the current one afterwards.
  Actor(const Program& program, int player);
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  ~Actor();

  int player() const { return player_; }
  int device() const { return program_.players[static_cast<std::size_t>(player_)].device; }
  cudaStream_t stream(int index) const { return streams_[static_cast<std::size_t>(index)]; }
  std::byte* at(const Place& place) const;
  // Device memory for the scalar of a call.
  std::byte* scalar(std::size_t step, std::size_t call) const;
  // By number; nullptr: not a member, or not made, or gone.
  ncclComm_t& comm(int number) { return comms_[static_cast<std::size_t>(number)]; }

  // From here on the buffer is used on this stream, after what was done to it on others.
  void take(int buffer, int stream);
  // Writes on the stream what stays alive until the end.
  void write(std::byte* target, std::vector<std::byte> bytes, int stream);
  void copy(const Copy& copy);
  void set(const Set& set);
  void wait(const Wait& wait, const std::vector<std::uint64_t>& checksums);
  // What is put on the stream until replay() goes into a graph, which then runs so often.
  void begin_capture(int stream);
  void replay(int stream, int times);
  void settle();  // until all its streams are done
  // Of all buffers and what lies around them, when everything has ended.
  void compare(const Expected::Buffers& expected);

  const std::string& problem() const { return problem_; }

 private:
  void check(cudaError_t error, const char* what);
  void follow(int before, int after);
  bool is_ordered_anyway(int before, int after) const;
  void await(const Wait& wait);

  const Program& program_;
  const int player_;
  std::vector<cudaStream_t> streams_;
  std::vector<std::byte*> buffers_;  // where the guard before each begins
  std::byte* scalars_ = nullptr;
  std::vector<int> last_streams_;  // by buffer
  std::vector<ncclComm_t> comms_;
  std::deque<std::vector<std::byte>> kept_;
  std::string problem_;
};

}  // namespace tutti::programs
