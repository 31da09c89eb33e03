#include "tutti/types.h"

namespace tutti {

std::size_t size_of(DataType type) {
  switch (type) {
    case DataType::int8:
    case DataType::uint8:
    case DataType::float8e4m3:
    case DataType::float8e5m2: return 1;
    case DataType::float16:
    case DataType::bfloat16: return 2;
    case DataType::int32:
    case DataType::uint32:
    case DataType::float32: return 4;
    case DataType::int64:
    case DataType::uint64:
    case DataType::float64: return 8;
  }
  return 0;
}

std::string_view name_of(DataType type) {
  switch (type) {
    case DataType::int8: return "int8";
    case DataType::uint8: return "uint8";
    case DataType::int32: return "int32";
    case DataType::uint32: return "uint32";
    case DataType::int64: return "int64";
    case DataType::uint64: return "uint64";
    case DataType::float16: return "float16";
    case DataType::float32: return "float32";
    case DataType::float64: return "float64";
    case DataType::bfloat16: return "bfloat16";
    case DataType::float8e4m3: return "float8e4m3";
    case DataType::float8e5m2: return "float8e5m2";
  }
  return "unknown";
}

std::optional<DataType> data_type_of(std::string_view name) {
  for (const DataType type : kDataTypes) {
    if (name_of(type) == name) return type;
  }
  return std::nullopt;
}

std::string_view name_of(Op op) {
  switch (op) {
    case Op::sum: return "sum";
    case Op::product: return "product";
    case Op::min: return "min";
    case Op::max: return "max";
    case Op::average: return "average";
    case Op::scaled_sum: return "scaled_sum";
  }
  return "unknown";
}

std::optional<Op> op_of(std::string_view name) {
  for (const Op op : kOps) {
    if (name_of(op) == name) return op;
  }
  return std::nullopt;
}

}  // namespace tutti
