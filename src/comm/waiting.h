// How calls are waited for: a look, then others get the core, then sleep; and how waiting ends when it should.
#pragma once

#include <span>

#include "comm/operation.h"
#include "comm/side.h"

namespace tutti::comm {

struct Pending {
  Side* side = nullptr;
  Operation* operation = nullptr;
};

// Until all have ended; the first failure.
Status complete(std::span<const Pending> pending);

}  // namespace tutti::comm
