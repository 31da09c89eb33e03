// What a reduction means, to the bit: the definition that every engine is compared with.
//
// Within a step values are kept wide (8- and 16-bit floats as float32) and rounded to the type once, when they are
// stored or sent. Integers wrap around. min and max never hide a NaN. A scaled sum multiplies each input by its rank's
// factor when it is loaded. An average divides the complete sum; in 8- and 16-bit floats, whose sums may overflow where
// the average does not, every input is multiplied by 1/n instead when it is loaded. A value with one source that is
// neither multiplied nor divided is no arithmetic: its bits are copied, those of a NaN too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tutti/types.h"

namespace tutti {

// The value of a step.
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  // Raw elements of the type; `factor` applies to inputs of a scaled sum only.
  virtual void assign(std::span<const std::byte> elements) = 0;
  virtual void assign_input(std::span<const std::byte> elements, double factor) = 0;
  virtual void add(std::span<const std::byte> elements) = 0;  // as many as were assigned
  virtual void add_input(std::span<const std::byte> elements, double factor) = 0;
  virtual void finish() = 0;
  virtual void store(std::span<std::byte> elements) const = 0;
};

// Whether loading an input multiplies it.
bool scales_inputs(DataType type, Op op);
// Whether a complete sum is divided. By 1 it is not.
bool divides_sums(DataType type, Op op, Rank ranks);

std::unique_ptr<Accumulator> create_accumulator(DataType type, Op op, Rank ranks);

}  // namespace tutti
