#include "launch/start/slurm_ticket.h"

#include <gtest/gtest.h>

namespace tutti::launch {
namespace {

TEST(SlurmTicket, ComesBackFromItsText) {
  const auto secret = rpc::Secret::create();
  ASSERT_TRUE(secret);
  const SlurmTicket ticket{.launcher = {.id = {77}, .addresses = {"10.0.0.1:4000", "[fd00::1]:4000"}},
                           .secret = *secret,
                           .is_encrypted = true,
                           .nodes = {"gpu7", "gpu12"}};
  const auto read = parse_slurm_ticket(text_of(ticket));
  ASSERT_TRUE(read) << read.status().text();
  EXPECT_EQ(read->launcher.id.value, 77u);
  EXPECT_EQ(read->launcher.addresses, ticket.launcher.addresses);
  EXPECT_TRUE(read->secret == *secret);
  EXPECT_TRUE(read->is_encrypted);
  EXPECT_EQ(read->nodes, ticket.nodes);
  EXPECT_EQ(*place_of(*read, "gpu12"), 1u);
  EXPECT_FALSE(place_of(*read, "gpu1"));
}

TEST(SlurmTicket, RefusesOtherLinesWithoutRepeatingThem) {
  for (const std::string line : {"", "hello there", "tutti-ticket-1 12 plain 3 a b", "tutti-ticket-2 a b c d e"}) {
    const auto read = parse_slurm_ticket(line);
    ASSERT_FALSE(read);
    EXPECT_TRUE(line.empty() || std::string(read.status().text()).find(line) == std::string::npos);
  }
}

TEST(SlurmTicket, AnnouncementsNameThePlace) {
  EXPECT_EQ(*parse_announcement(announcement_of(12)), 12u);
  EXPECT_FALSE(parse_announcement("12"));
  EXPECT_FALSE(parse_announcement("tutti-agent x"));
}

}  // namespace
}  // namespace tutti::launch
