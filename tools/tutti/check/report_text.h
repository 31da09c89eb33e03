// Findings as lines for a person. Pure.
#pragma once

#include <span>
#include <string>

#include "tools/tutti/check/finding.h"

namespace tutti::tool::check {

// "MISSING  interfaces      ...", then its details and its remedy, a line each.
std::string text_of(const Finding& finding);
std::string text_of(std::span<const Finding> findings);

}  // namespace tutti::tool::check
