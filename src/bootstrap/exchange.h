// How ranks meet: everybody leaves some bytes in a store and gets those of all others.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "bootstrap/store.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::bootstrap {

using ProgressSink = std::function<void(std::string_view)>;

// Who waits so long that a person wonders is told what for.
struct ProgressPace {
  std::chrono::nanoseconds first = std::chrono::seconds(2);
  std::chrono::nanoseconds then = std::chrono::seconds(10);
};

inline constexpr std::size_t kExchangeBytesMax = kValueBytesMax - 64;  // a rank also leaves who it is

// Everybody's bytes by rank, the same on every rank. `what` names the exchange, in the store and in messages; a store
// takes one of each name. Nobody hangs: at the deadline it is timed_out with the ranks that are missing. Two processes
// with one rank: the second gets invalid_usage. Different sizes: invalid_usage for whoever comes with another size than
// the first, and for those who still wait then. `progress` gets a line now and then while ranks are missing.
Result<std::vector<Bytes>> exchange(Store& store, std::string_view what, Rank rank, Rank size,
                                    std::span<const std::byte> mine, Deadline deadline,
                                    const ProgressSink& progress = {}, ProgressPace pace = {});

// This rank has done with the store. The last of them removes what newcomers would find; also after failures, as far as
// every rank has come, and otherwise the end of the last rank's store does it.
Status leave(Store& store, Rank size);

std::string ranks_text(std::span<const Rank> ranks);  // "rank 4", "ranks 4, 23 and 40", "ranks 0, 1, 2 and 56 more"
std::string ranks_list(std::span<const Rank> ranks);  // "4, 23, 40", "0, 1, 2 and 56 more"

}  // namespace tutti::bootstrap
