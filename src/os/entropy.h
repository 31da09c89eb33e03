// Chance that nobody can foresee, for names and keys; what has to be reproducible uses base/random.h.
#pragma once

#include <cstddef>
#include <span>

#include "tutti/status.h"

namespace tutti::os {

Status fill_random(std::span<std::byte> bytes);

}  // namespace tutti::os
