// Who is to blame when a call does not come to its end, in one sentence.
#pragma once

#include <string>

#include "base/deadline.h"
#include "comm/operation.h"

namespace tutti::comm {

// "rank 3 (pid 4711 on node7)".
std::string name_of_peer(const transport::Member& peer);

// The number of a collective call; 0: it is a message, which only its two ends count.
std::uint32_t collective_call_of(const Operation& operation);

// Another rank makes another call.
std::string mismatch_text(const Operation& operation, Rank member);
// `member` has died, left, stopped or is late.
std::string waiting_text(const Operation& operation, Rank member, std::string_view what_it_does,
                         std::chrono::nanoseconds waited);
// What a member is doing, as far as can be seen from outside: "is stopped; continue it with kill -CONT 4711".
std::string activity_text(const Operation& operation, Rank member);

}  // namespace tutti::comm
