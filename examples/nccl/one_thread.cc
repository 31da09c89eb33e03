// One process, one thread, many devices: ncclCommInitAll makes the communicators of all devices, and a group holds the
// calls of all of them together, since the first alone would wait for the others for ever.
//
//   example_nccl_one_thread [DEVICES]    all devices unless told
#include <memory>
#include <vector>

#include "part.h"

int main(int argument_count, char** arguments) {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  count = number_of(argument_count, arguments, count);

  std::vector<ncclComm_t> comms(static_cast<std::size_t>(count));
  check(ncclCommInitAll(comms.data(), count, nullptr));  // no list: devices 0, 1, 2, ...
  std::vector<std::unique_ptr<Part>> parts;
  for (int device = 0; device < count; ++device) parts.push_back(std::make_unique<Part>(device, device));

  check(ncclGroupStart());
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i]->add_up(comms[i]);
  check(ncclGroupEnd());

  bool is_right = true;
  for (auto& part : parts) is_right = part->is_right("thread 0:", count) && is_right;
  for (ncclComm_t comm : comms) check(ncclCommDestroy(comm));
  std::puts(is_right ? "all sums are right" : "there are wrong sums");
  return is_right ? 0 : 1;
}
