// ncclGroupStart and ncclGroupEnd: calls of one thread that begin together.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "comm/bundle.h"
#include "device/host/stream.h"
#include "nccl/comm.h"
#include "tutti/communicator.h"

namespace tutti::nccl {

// A valid collective or message.
struct Enqueued {
  CommRef comm;
  std::shared_ptr<device::HostStream> stream;
  Call call;
  std::function<double()> factor = {};
  std::shared_ptr<const void> keeps = {};  // what the call points to
};

// Something that takes long and needs the other ranks: a start, a split. Where several belong to one group, they go on
// at the same time.
struct Making {
  CommRef comm;                                               // that is made
  std::function<Result<std::shared_ptr<comm::Side>>()> make;  // on any thread
  std::optional<Identifier> identifier = {};                  // of a start
  CommunicatorOptions options = {};                           // likewise, as its thread wants them
  CommRef parent = {};                                        // that it is made from, which takes no calls meanwhile
  bool is_wanted = true;                                      // false: this rank helps to make it and gets nothing
};

// Begins it now, or at the end of the group. Success of a communicator that does not block means: in progress.
Status enqueue(Enqueued enqueued);
// The same for one that has only these, which costs less where there is no group.
Status enqueue(CommRef comm, std::shared_ptr<device::HostStream> stream, const Call& call);
ncclResult_t begin(Making making);
// Ends the threads that have made communicators.
void reap_makings();
// A call of the open group has failed: nothing of it will be done.
void spoil_group(const Status& why);

}  // namespace tutti::nccl
