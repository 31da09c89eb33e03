// The element types and reductions that nccl-tests names.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::perf {

enum class Numbers : std::uint8_t { signed_integers, unsigned_integers, floats };

struct ElementType {
  std::string_view name;
  ncclDataType_t nccl;
  std::size_t bytes;
  Numbers numbers;
  int mantissa_bits;  // of floats: integers up to 2 to the (mantissa_bits + 1) are exact
};

enum class Operation : std::uint8_t { sum, prod, max, min, avg, mulsum, none };

// In the order in which nccl-tests runs "all" of them.
std::span<const ElementType> element_types();
std::span<const Operation> operations();

const ElementType* find_type(std::string_view name);  // nullptr: no such type
const Operation* find_operation(std::string_view name);
std::string_view name_of(Operation operation);
std::vector<std::string> type_names();
std::vector<std::string> operation_names();

// The bits of a number that the type can hold exactly, and back. Integers wrap around.
std::uint64_t encode(const ElementType& type, double value);
double decode(const ElementType& type, std::uint64_t bits);

}  // namespace tutti::perf
