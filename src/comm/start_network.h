// A communicator whose ranks meet over a network: those of one host share memory, the others are reached by wires.
#pragma once

#include "comm/start.h"
#include "tutti/identifier.h"

namespace tutti::comm {

Result<std::unique_ptr<Side>> start_over_network(const CommunicatorOptions& options, const Identifier& identifier,
                                                 const NetworkRates& network, const Recall* recall);

}  // namespace tutti::comm
