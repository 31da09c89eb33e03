#include "comm/watch/stack.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tutti::comm::watch {
namespace {

constexpr std::string_view kMaps =
    "55d000000000-55d000001000 r--p 00000000 08:01 12 /usr/bin/train\n"
    "55d000001000-55d000005000 r-xp 00001000 08:01 12 /usr/bin/train\n"
    "7f0000000000-7f0000002000 r-xp 00002000 08:01 13 /usr/lib/libc.so.6\n"
    "7f0000003000-7f0000004000 rwxp 00000000 00:00 0 \n"
    "nonsense\n"
    "x-y r-xp z 0 0\n";

TEST(CodeAreas, AreThoseThatMayRun) {
  const auto areas = parse_code_areas(kMaps);
  ASSERT_EQ(areas.size(), 3u);
  EXPECT_EQ(areas[0].file, "train");
  EXPECT_EQ(areas[0].begin, 0x55d000001000u);
  EXPECT_EQ(areas[0].offset, 0x1000u);
  EXPECT_EQ(areas[1].file, "libc.so.6");
  EXPECT_EQ(areas[2].file, "memory without a file");
}

os::HaltedThread thread_with(const std::vector<std::uint64_t>& stack, std::uint64_t frame_pointer) {
  os::HaltedThread thread{.registers = {},
                          .program_counter = 0x55d000001010,
                          .stack_pointer = 0x1000,
                          .frame_pointer = frame_pointer,
                          .stack = std::vector<std::byte>(stack.size() * 8)};
  if (!stack.empty()) std::memcpy(thread.stack.data(), stack.data(), thread.stack.size());
  return thread;
}

TEST(FramePointers, LeadFromFrameToFrame) {
  // At 0x1008: the next frame at 0x1018 and a return address; there: the end and another.
  const auto thread = thread_with({0, 0x1018, 0x55d000001100, 0, 0x7f0000000010}, 0x1008);
  const auto addresses = walk_frame_pointers(thread, parse_code_areas(kMaps));
  EXPECT_EQ(addresses, std::vector<std::uint64_t>({0x55d000001100, 0x7f0000000010}));
}

TEST(FramePointers, ThatAreNoneEndTheWalk) {
  const auto code = parse_code_areas(kMaps);
  EXPECT_TRUE(walk_frame_pointers(thread_with({0, 0x1018, 0x1234, 0, 0}, 0x1008), code).empty()) << "not in code";
  EXPECT_TRUE(walk_frame_pointers(thread_with({0, 0}, 7), code).empty()) << "below the stack";
  EXPECT_TRUE(walk_frame_pointers(thread_with({0, 0}, ~std::uint64_t{0}), code).empty()) << "above the stack";
  EXPECT_TRUE(walk_frame_pointers(thread_with({}, 0x1000), code).empty()) << "no stack";
  EXPECT_EQ(walk_frame_pointers(thread_with({0, 0x1008, 0x55d000001100}, 0x1008), code).size(), 1u) << "a circle";
}

}  // namespace
}  // namespace tutti::comm::watch
