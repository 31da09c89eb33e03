#include "tutti/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace tutti {
namespace {

Result<int> half_of(int value) {
  if (value % 2 != 0) return invalid_argument("3 is odd; give an even number");
  return value / 2;
}

Result<int> quarter_of(int value) {
  TUTTI_ASSIGN(const int half, half_of(value));
  TUTTI_ASSIGN(const int quarter, half_of(half));
  return quarter;
}

Status must_divide(int value) {
  TUTTI_TRY(quarter_of(value).status());
  return {};
}

TEST(Status, SuccessHasNoTextOfItsOwn) {
  EXPECT_TRUE(Status().is_ok());
  EXPECT_EQ(Status().code(), Code::ok);
  EXPECT_EQ(Status().while_doing("anything").text(), "ok");
}

TEST(Status, KeepsCodeAndScopeWhenCallersAddWhatTheyWereDoing) {
  const Status lost(Code::peer_lost, "refused", Scope::connection);
  const Status told = lost.while_doing("connecting rank 3");
  EXPECT_EQ(told.text(), "connecting rank 3: refused");
  EXPECT_EQ(told.code(), Code::peer_lost);
  EXPECT_EQ(told.scope(), Scope::connection);
  EXPECT_EQ(lost.text(), "refused");
}

TEST(Result, AssignStopsAtTheFirstFailure) {
  EXPECT_EQ(*quarter_of(8), 2);
  EXPECT_EQ(quarter_of(6).status().code(), Code::invalid_argument);
  EXPECT_TRUE(must_divide(4).is_ok());
  EXPECT_FALSE(must_divide(6).is_ok());
}

TEST(Result, MovesOutWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

}  // namespace
}  // namespace tutti
