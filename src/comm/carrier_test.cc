#include "comm/carrier.h"

#include <gtest/gtest.h>

#include <array>

namespace tutti::comm {
namespace {

using enum UcxStance;

const Status kMissing(Code::unsupported, "UCX is not here; install libucx0");

TEST(Carrier, IsUcxWhereBothSidesHaveACard) {
  EXPECT_EQ(carrier_between(welcome, welcome), Carrier::ucx);
  EXPECT_EQ(carrier_between(welcome, possible), Carrier::tcp);
  EXPECT_EQ(carrier_between(possible, possible), Carrier::tcp);
  EXPECT_EQ(carrier_between(demanded, possible), Carrier::ucx);
}

TEST(Carrier, IsTheSameSeenFromBothSides) {
  constexpr std::array kAll = {refused, possible, welcome, demanded};
  for (const UcxStance a : kAll) {
    for (const UcxStance b : kAll) EXPECT_EQ(carrier_between(a, b), carrier_between(b, a));
    EXPECT_EQ(carrier_between(refused, a), Carrier::tcp);
  }
}

TEST(Carrier, ACardMakesUcxWelcomeUnlessSomethingForbidsIt) {
  const auto stance = [](UcxFacts facts) { return *stance_of(facts); };
  EXPECT_EQ(stance({.has_active_port = true, .library = {}}), welcome);
  EXPECT_EQ(stance({.library = {}}), possible);
  EXPECT_EQ(stance({.has_active_port = true, .library = kMissing}), refused);
  EXPECT_EQ(stance({.has_active_port = true, .is_encrypted = true, .library = {}}), refused);
  EXPECT_EQ(stance({.choice = TransportChoice::tcp, .has_active_port = true, .library = {}}), refused);
  EXPECT_EQ(stance({.choice = TransportChoice::ucx, .library = {}}), demanded);
}

TEST(Carrier, ADemandThatCannotBeMetIsAnErrorWithTheRemedy) {
  const auto missing = stance_of({.choice = TransportChoice::ucx, .library = kMissing});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.status().code(), Code::unsupported);
  EXPECT_NE(missing.status().text().find("install libucx0"), std::string::npos);
  const auto encrypted = stance_of({.choice = TransportChoice::ucx, .is_encrypted = true, .library = {}});
  ASSERT_FALSE(encrypted);
  EXPECT_NE(encrypted.status().text().find("TUTTI_ENCRYPT"), std::string::npos);
}

TEST(Carrier, ADemandAndARefusalMeetOnlyOnOneHost) {
  const std::array stances = {demanded, refused};
  EXPECT_TRUE(check_stances(stances, std::array<Rank, 2>{0, 0}));
  const Status status = check_stances(stances, std::array<Rank, 2>{0, 1});
  EXPECT_EQ(status.code(), Code::invalid_usage);
  EXPECT_EQ(status.text(),
            "rank 0 demands UCX (TUTTI_TRANSPORT=ucx) and rank 1 cannot or may not use it; give all ranks the same "
            "TUTTI_TRANSPORT, and look at 'tutti check' on the host of rank 1");
}

TEST(Carrier, TheTextCountsOnlyPairsOfDifferentHosts) {
  EXPECT_EQ(carriers_text(std::array{welcome, welcome}, std::array<Rank, 2>{0, 0}), "TCP carries data between hosts");
  EXPECT_EQ(carriers_text(std::array{possible, welcome}, std::array<Rank, 2>{0, 1}), "TCP carries data between hosts");
  const std::string mixed = carriers_text(std::array{welcome, welcome, possible}, std::array<Rank, 3>{0, 1, 2});
  EXPECT_NE(mixed.find("between 1 of 3 pairs"), std::string::npos) << mixed;
}

}  // namespace
}  // namespace tutti::comm
