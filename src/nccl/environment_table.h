// Every variable of the environment that users of NCCL set, and what becomes of it here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tutti::nccl {

enum class Standing : std::uint8_t {
  knob,      // another name of one of our settings: knob_table.cc
  honoured,  // in another way, which the remark tells
  none,      // without a meaning, for the reason that the remark gives
};

struct Variable {
  std::string_view name;
  Standing standing = Standing::none;
  std::string_view remark = {};  // goes on after a colon: "chooses CUDA blocks; there are none"
};

// In alphabetical order.
std::span<const Variable> variables();
const Variable* find_variable(std::string_view name);  // nullptr: no variable of NCCL that we know of

}  // namespace tutti::nccl
