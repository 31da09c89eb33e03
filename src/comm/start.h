// How a communicator comes into being: the ranks meet, map each other's memory and agree on what the machine is like.
#pragma once

#include <memory>
#include <vector>

#include "comm/recall.h"
#include "comm/side.h"
#include "tutti/communicator.h"

namespace tutti::comm {

// `network`: what is known of it from an older communicator, so that it is not measured again. `recall`: ends it soon,
// where ranks meet over an Identifier; nullptr: nobody does.
Result<std::unique_ptr<Side>> start(const CommunicatorOptions& options, const NetworkRates& network = {},
                                    const Recall* recall = nullptr);
Result<std::vector<std::unique_ptr<Side>>> start_local(Rank size, const CommunicatorOptions& options);
// The ranks of that identifier do not need to meet: nobody waits for them any more.
void forget_meeting(const Identifier& identifier);
// Collective over the parent. Empty for ranks without a colour.
Result<std::unique_ptr<Side>> start_split(Side& parent, int color, int key);
// Of these ranks of the parent, in this order, all of which call this and nobody else has to; the parent may have
// ended. `moment` differs from one such call of the same ranks to the next.
Result<std::unique_ptr<Side>> start_part(Side& parent, std::vector<Rank> ranks, std::uint64_t moment,
                                         std::chrono::nanoseconds timeout, const Recall* recall = nullptr);
// Of the ranks that are left, which all call this; the parent has ended or ends now.
Result<std::unique_ptr<Side>> start_shrunk(Side& parent, std::chrono::nanoseconds timeout);

}  // namespace tutti::comm
