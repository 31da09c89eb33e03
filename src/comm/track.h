// A channel with all that running calls on it needs, used by one call at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "comm/decision.h"
#include "comm/turn.h"
#include "comm/watch/recorder.h"
#include "engine/host/workspace.h"
#include "transport/channel.h"

namespace tutti::comm {

struct Track {
  Track(transport::Channel made, DecisionContext decides) : channel(std::move(made)), context(std::move(decides)) {}

  Turn turn;
  watch::TrackLog log;
  // From here on: of whoever has the turn.
  transport::Channel channel;
  DecisionContext context;
  DecisionCache decisions;
  engine::Workspace workspace;
  const engine::Launch* last = nullptr;  // of the last finished call
  // Makes sure that messages can go to these members; empty where all of them share memory.
  std::function<Status(std::span<const Rank>)> open_links;

  std::size_t bytes() const { return sizeof(Track) + channel.bytes() + decisions.bytes() + workspace.bytes(); }
  // What there is before the first call.
  std::size_t own_bytes() const { return sizeof(Track) + channel.bytes(); }
};

}  // namespace tutti::comm
