// Ranks that stop, do not come, leave early, or are not what they say: nobody waits longer than it was told to, and
// everybody learns who is to blame.
#include <gtest/gtest.h>

#include "bootstrap/exchange.h"
#include "bootstrap/store/place_for_test.h"
#include "comm/seating.h"
#include "tests/process/board.h"
#include "tests/process/crew.h"
#include "tests/process/meeting.h"
#include "transport/shm/mesh.h"

namespace tutti::conformance {
namespace {

using bootstrap::TemporaryDirectory;
using std::chrono::milliseconds;

void expect_in(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

TEST(Trouble, AStoppedRankIsNamedAtTheDeadline) {
  const TemporaryDirectory directory;
  const Board board;
  Crew crew(2, [&](int rank) -> std::string {
    auto communicator = meet(rank, 2, directory / "store", {.call = milliseconds(400)});
    if (!communicator) return spoken(communicator.status());
    if (const Status first = communicator->barrier(); !first) return spoken(first);
    ++board.started();
    if (!Board::wait_for(board.released(), 1)) return "never released";
    const Time start = os::now();
    const Status status = communicator->barrier();
    const auto waited_ms = (os::now().ns - start.ns) / 1'000'000;
    if (rank == 0 && (waited_ms < 390 || waited_ms > 5000)) return fmt::format("waited {} ms", waited_ms);
    ++board.started();
    return spoken(status);
  });
  ASSERT_TRUE(Board::wait_for(board.started(), 2));
  crew.send(1, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(crew.pid(1), &status, WUNTRACED), crew.pid(1));
  ++board.released();
  ASSERT_TRUE(Board::wait_for(board.started(), 3));
  crew.send(1, SIGCONT);
  const auto texts = crew.finish();
  expect_in(texts[0], {"timed out: barrier (call 2) on rank 0", "waited 40", fmt::format("rank 1 (pid {}", crew.pid(1)),
                       fmt::format("which is stopped; continue it with kill -CONT {}", crew.pid(1))});
  EXPECT_EQ(texts[1], texts[0]);
}

TEST(Trouble, ARankThatNeverStartsIsNamed) {
  const TemporaryDirectory directory;
  Crew crew(2, [&](int rank) {
    const auto communicator = meet(rank, 3, directory / "store", {.start = milliseconds(300)});
    return communicator ? "started without rank 2" : spoken(communicator.status());
  });
  for (const std::string& text : crew.finish()) expect_in(text, {"timed out: ", "of 3", "rank 2"});
}

TEST(Trouble, ARankThatDoesNotMakeTheCallIsNamedWithItsLastOne) {
  const TemporaryDirectory directory;
  const Board board;
  Crew crew(3, [&](int rank) -> std::string {
    auto communicator = meet(rank, 3, directory / "store", {.call = milliseconds(300)});
    if (!communicator) return spoken(communicator.status());
    std::int32_t data[5] = {};
    if (const Status first = communicator->all_reduce(std::span<std::int32_t>(data)); !first) return spoken(first);
    if (rank == 1) {
      if (!Board::wait_for(board.released(), 2)) return "never released";
      return spoken(communicator->barrier());
    }
    const Status status = communicator->broadcast(std::span<std::int32_t>(data), 1);
    ++board.released();
    return spoken(status);
  });
  const auto texts = crew.finish();
  expect_in(texts[0], {"timed out: broadcast of 5 int32, root 1 (call 2)", fmt::format("rank 1 (pid {}", crew.pid(1)),
                       "has not made this call; its last was call 1, all_reduce of 5 int32, sum"});
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[2], texts[0]);
}

TEST(Trouble, ARankThatHasLeftIsNamed) {
  const TemporaryDirectory directory;
  const Board board;
  Crew crew(2, [&](int rank) -> std::string {
    auto communicator = meet(rank, 2, directory / "store");
    if (!communicator) return spoken(communicator.status());
    if (const Status first = communicator->barrier(); !first) return spoken(first);
    if (rank == 1) {
      communicator = Status(Code::aborted, "destroyed");
      return Board::wait_for(board.released(), 1) ? "" : "never released";
    }
    const Status status = communicator->barrier();
    ++board.released();
    return spoken(status);
  });
  const auto texts = crew.finish();
  expect_in(texts[0], {"peer lost: barrier (call 2)", fmt::format("rank 1 (pid {}", crew.pid(1)),
                       "which has left the communicator"});
  EXPECT_EQ(texts[1], "");
}

// Another program, or one that died, has been at the store before.
std::string introduce(const std::string& path, const std::vector<std::byte>& message) {
  const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(20));
  const auto store = bootstrap::open_store("file:" + path, 1, deadline);
  if (!store) return spoken(store.status());
  const auto all = bootstrap::exchange(**store, "ranks", 1, 2, message, deadline);
  if (!all) return spoken(all.status());
  const Status left = bootstrap::leave(**store, 2);
  return left ? std::string() : spoken(left);
}

TEST(Trouble, ARankThatIntroducesItselfWithGarbageIsRefused) {
  for (const std::size_t bytes : {0, 3, 100, 5000}) {
    const TemporaryDirectory directory;
    Crew crew(2, [&](int rank) -> std::string {
      if (rank == 1) return introduce(directory / "store", std::vector<std::byte>(bytes, std::byte{0xee}));
      const auto communicator = meet(0, 2, directory / "store", {.start = std::chrono::seconds(2)});
      return communicator ? "started" : spoken(communicator.status());
    });
    const auto texts = crew.finish();
    expect_in(texts[0], {"starting rank 0 of 2: ", "rank 1"});
    EXPECT_EQ(texts[1], "");
    EXPECT_TRUE(directory.is_empty());
  }
}

TEST(Trouble, ARankThatDiesBeforeItIsMetIsNamed) {
  const TemporaryDirectory directory;
  Crew crew(2, [&](int rank) -> std::string {
    if (rank == 0) {
      const auto communicator = meet(0, 2, directory / "store", {.start = std::chrono::seconds(1)});
      return communicator ? "started" : spoken(communicator.status());
    }
    const auto mesh = transport::Mesh::of_process();
    if (!mesh) return spoken(mesh.status());
    std::vector<std::byte> message(sizeof(comm::Introduction));
    const auto card = (*mesh)->card();
    message.insert(message.end(), card.begin(), card.end());
    return introduce(directory / "store", message);
  });
  const auto texts = crew.finish();
  expect_in(texts[0], {"starting rank 0 of 2", fmt::format("{}", crew.pid(1))});
  EXPECT_EQ(texts[1], "");
}

}  // namespace
}  // namespace tutti::conformance
