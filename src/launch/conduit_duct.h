// A connection over a network as the duct of a channel.
#pragma once

#include <memory>

#include "launch/channel.h"
#include "rpc/conduit.h"

namespace tutti::launch {

std::unique_ptr<Duct> create_conduit_duct(rpc::Conduit conduit);

}  // namespace tutti::launch
