#include "tools/perf/element.h"

#include <array>
#include <bit>
#include <utility>

#include "base/number.h"

namespace tutti::perf {

namespace {

constexpr std::array kTypes = {
    ElementType{"int8", ncclInt8, 1, Numbers::signed_integers, 0},
    ElementType{"uint8", ncclUint8, 1, Numbers::unsigned_integers, 0},
    ElementType{"int32", ncclInt32, 4, Numbers::signed_integers, 0},
    ElementType{"uint32", ncclUint32, 4, Numbers::unsigned_integers, 0},
    ElementType{"int64", ncclInt64, 8, Numbers::signed_integers, 0},
    ElementType{"uint64", ncclUint64, 8, Numbers::unsigned_integers, 0},
    ElementType{"half", ncclFloat16, 2, Numbers::floats, 10},
    ElementType{"float", ncclFloat32, 4, Numbers::floats, 23},
    ElementType{"double", ncclFloat64, 8, Numbers::floats, 52},
    ElementType{"bfloat16", ncclBfloat16, 2, Numbers::floats, 7},
    ElementType{"f8e4m3", ncclFloat8e4m3, 1, Numbers::floats, 3},
    ElementType{"f8e5m2", ncclFloat8e5m2, 1, Numbers::floats, 2},
};

constexpr std::array kOperations = {Operation::sum, Operation::prod, Operation::max,
                                    Operation::min, Operation::avg,  Operation::mulsum};

std::uint64_t encode_float(const ElementType& type, double value) {
  const auto narrow = static_cast<float>(value);
  if (type.nccl == ncclFloat16) return Float16Format::encode(narrow);
  if (type.nccl == ncclBfloat16) return Bfloat16Format::encode(narrow);
  if (type.nccl == ncclFloat8e4m3) return Float8e4m3Format::encode(narrow);
  if (type.nccl == ncclFloat8e5m2) return Float8e5m2Format::encode(narrow);
  if (type.nccl == ncclFloat32) return std::bit_cast<std::uint32_t>(narrow);
  return std::bit_cast<std::uint64_t>(value);
}

double decode_float(const ElementType& type, std::uint64_t bits) {
  if (type.nccl == ncclFloat16) return Float16Format::decode(static_cast<std::uint16_t>(bits));
  if (type.nccl == ncclBfloat16) return Bfloat16Format::decode(static_cast<std::uint16_t>(bits));
  if (type.nccl == ncclFloat8e4m3) return Float8e4m3Format::decode(static_cast<std::uint8_t>(bits));
  if (type.nccl == ncclFloat8e5m2) return Float8e5m2Format::decode(static_cast<std::uint8_t>(bits));
  if (type.nccl == ncclFloat32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

}  // namespace

std::span<const ElementType> element_types() { return kTypes; }
std::span<const Operation> operations() { return kOperations; }

const ElementType* find_type(std::string_view name) {
  for (const ElementType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

const Operation* find_operation(std::string_view name) {
  for (const Operation& operation : kOperations) {
    if (name_of(operation) == name) return &operation;
  }
  return nullptr;
}

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::sum: return "sum";
    case Operation::prod: return "prod";
    case Operation::max: return "max";
    case Operation::min: return "min";
    case Operation::avg: return "avg";
    case Operation::mulsum: return "mulsum";
    case Operation::none: return "none";
  }
  return "none";
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const ElementType& type : kTypes) names.emplace_back(type.name);
  return names;
}

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const Operation operation : kOperations) names.emplace_back(name_of(operation));
  return names;
}

std::uint64_t encode(const ElementType& type, double value) {
  if (type.numbers == Numbers::floats) return encode_float(type, value);
  const auto wide = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return type.bytes == 8 ? wide : wide & ((std::uint64_t{1} << (8 * type.bytes)) - 1);
}

double decode(const ElementType& type, std::uint64_t bits) {
  if (type.numbers == Numbers::floats) return decode_float(type, bits);
  if (type.numbers == Numbers::unsigned_integers) return static_cast<double>(bits);
  const int unused = 64 - 8 * static_cast<int>(type.bytes);
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

}  // namespace tutti::perf
