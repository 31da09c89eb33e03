// Whether a call may use the memory that it names: known, large enough and on the side that the call says.
#pragma once

#include <cstddef>

#include "cudart/outcome.h"

namespace tutti::cudart {

enum class Side : unsigned char { any, host, device };

struct Range {
  bool is_pageable = false;  // memory of the program that devices do not know
  bool is_host = false;      // the host may look at it at any time: pageable, pinned, managed
  int device = -1;           // to which it belongs; -1: to none
};

// No bytes are always fine. What lies in the shared heap but in no allocation was freed.
Outcome check_range(const void* data, std::size_t bytes, Side side, Range& range);

// Rows of bytes with the same distance; one row where memory is plain.
struct Rows {
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t pitch = 0;  // from row to row; of one row nothing
};

// From the first byte to the last. Fails where rows overlap or the number is too large.
Outcome extent_of(const Rows& rows, std::size_t& bytes);

}  // namespace tutti::cudart
