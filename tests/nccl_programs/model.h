// The sequential model of a program: what every buffer of every player holds after each step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tests/nccl_programs/program.h"
#include "tests/nccl_programs/reduction.h"

namespace tutti::programs {

// Makes inputs that would not add up exactly be written anew.
void settle(Program& program);

struct Expected {
  using Buffers = std::vector<std::vector<std::byte>>;
  std::vector<Buffers> players;                                 // at the end
  std::map<std::size_t, std::vector<std::uint64_t>> checksums;  // of the player's buffers, by number of a Wait
};
Expected expected_of(const Program& program);

std::uint64_t checksum_of(std::span<const std::byte> bytes);
// What a buffer holds at the beginning.
std::vector<std::byte> first_content(const Program& program, int player, int buffer);
// What a call that fills its inputs writes for a rank.
std::vector<std::byte> filling_of(const Program& program, const Call& call, int rank);

}  // namespace tutti::programs
