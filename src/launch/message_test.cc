#include "launch/message.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tutti::launch {
namespace {

std::vector<Message> one_of_each() {
  const Order order{
      .command = {"python", "train.py", ""},
      .folder = "/home/somebody",
      .must_have_folder = false,
      .environment = {{"PATH", "/bin"}, {"EMPTY", ""}},
      .inherits_environment = true,
      .local_size = 2,
      .bind = BindPolicy::numa,
      .devices_per_rank = 1,
      .input = InputPolicy::first,
      .ranks = {{.rank = 4, .local_rank = 0, .variables = {{"RANK", "4"}}}, {.rank = 5, .local_rank = 1}}};
  const Branch leaf{.host = 9, .name = "c", .words = {"ssh", "c"}, .branches = {}};
  const Bytes text(bytes_of("a line\n").begin(), bytes_of("a line\n").end());
  return {Begin{order},
          Grow{{Branch{.host = 8, .name = "b", .words = {"ssh", "b"}, .branches = {leaf, leaf}}}},
          Input{.rank = 0, .is_end = true, .bytes = text},
          Signal{.rank = kNoRank, .signal = 15},
          Stop{.grace_ms = 5000},
          AskSamples{},
          Beat{},
          Hello{.version = "1.0", .host_name = "gpu12", .ports = {12000, 65535}, .cores = 64, .pid = 7, .clock_us = -1},
          Started{.rank = 3, .pid = 99, .binding = "cores 0-3"},
          CannotStart{.rank = 3, .text = "no such file"},
          Output{.rank = 3, .stream = Stream::err, .bytes = text},
          Ended{.rank = 3, .code = 0, .signal = 11, .has_core = true, .was_stopped = false, .core = "/tmp/core"},
          Lost{.host = 2, .text = "refused"},
          Samples{{Sample{.rank = 1,
                          .pid = 2,
                          .cpu_permille = 999,
                          .memory_bytes = 1,
                          .call = "a",
                          .waits_for = "b",
                          .bytes_per_s = 5}}},
          Note{.text = "careful"},
          Gone{},
          Took{.rank = 3, .bytes = 4096}};
}

std::span<const std::byte> behind_length(const Bytes& bytes) { return std::span(bytes).subspan(sizeof(std::uint32_t)); }

TEST(Messages, ComeOutAsTheyWentIn) {
  const auto messages = one_of_each();
  ASSERT_EQ(messages.size(), std::variant_size_v<Message>);
  for (const Message& message : messages) {
    const Envelope envelope{.host = 77, .message = message};
    const Bytes bytes = encode(envelope);
    EXPECT_EQ(load_number<std::uint32_t>(bytes), bytes.size() - sizeof(std::uint32_t));
    EXPECT_EQ(host_of(behind_length(bytes)), 77u);
    const auto back = parse_envelope(behind_length(bytes));
    ASSERT_TRUE(back) << "kind " << message.index() << ": " << back.status().text();
    EXPECT_EQ(*back, envelope) << "kind " << message.index();
  }
}

TEST(Messages, ThatAreCutOffOrTooLongAreRefused) {
  for (const Message& message : one_of_each()) {
    Bytes bytes = encode({.host = 1, .message = message});
    const auto whole = behind_length(bytes);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(parse_envelope(whole.first(size))) << "kind " << message.index() << ", " << size << " bytes";
    }
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(parse_envelope(behind_length(bytes))) << "kind " << message.index();
  }
}

TEST(Messages, WithChangedBytesAreRefusedOrStillMessages) {
  Random random(7);
  for (int round = 0; round < 20000; ++round) {
    const auto messages = one_of_each();
    Bytes bytes = encode({.host = 1, .message = messages[random.below(messages.size())]});
    bytes[4 + random.below(bytes.size() - 4)] = static_cast<std::byte>(random.below(256));
    const auto parsed = parse_envelope(behind_length(bytes));
    if (!parsed) continue;
    EXPECT_EQ(encode(*parsed), bytes);
  }
}

TEST(Messages, WithBranchesBelowBranchesWithoutEndAreRefused) {
  Branch branch{.host = 1, .name = "", .words = {}, .branches = {}};
  for (int depth = 0; depth < 100; ++depth) branch = {.host = 1, .name = "", .words = {}, .branches = {branch}};
  EXPECT_FALSE(parse_envelope(behind_length(encode({.host = 1, .message = Grow{{branch}}}))));
}

}  // namespace
}  // namespace tutti::launch
