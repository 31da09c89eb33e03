// The first look at a plan: whether every number in it means something at all.
#pragma once

#include <optional>

#include "tutti/check.h"

namespace tutti::plan {

std::optional<Fault> validate_structure(const Plan& plan);

}  // namespace tutti::plan
