// Wires over UCX, for InfiniBand and RoCE; this is all that others need to know of it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "transport/conduit_wire.h"
#include "tutti/status.h"

namespace tutti::transport {

bool is_ucx_built();
// Success where this build knows UCX and its library is here, which is loaded by this. The failure says what to
// install.
Status try_ucx();
// Of the library: "1.13.1"; empty where there is none.
std::string ucx_version();

// Makes the wires of one rank, which share what UCX needs for them.
using CreateUcxWire = std::function<std::unique_ptr<ConduitWire>(const std::array<Remote*, kPorts>&)>;
Result<CreateUcxWire> open_ucx();

}  // namespace tutti::transport
