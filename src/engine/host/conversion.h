// Values that travel between hosts in a narrower type than they are added in: expanded where they come in, rounded
// where they go out.
#pragma once

#include "engine/host/value.h"

namespace tutti::engine {

// As compute(), of a value that needs conversion, with a launch that has a wire type.
void compute_converted(const Launch& launch, Workspace& workspace, const Value& value);

}  // namespace tutti::engine
