// Starts over a network that cannot work: each rank concerned learns why and what to do, in bounded time.
#include <gtest/gtest.h>

#include "tests/network/job.h"

namespace tutti::network {
namespace {

using std::chrono::seconds;

class Input : public OnHosts {};

constexpr seconds kStart(3);

std::string begin(Rank rank, Rank size, const std::string& text, seconds patience = kStart) {
  const Time start = os::now();
  const auto communicator = Job::join(rank, size, text, {.times = {.start = patience}});
  const auto took = std::chrono::nanoseconds(os::now().ns - start.ns);
  if (took > patience + seconds(5)) return fmt::format("it took {} s", took / seconds(1));
  return communicator ? "started" : spoken(communicator.status());
}

TEST_F(Input, IdentifiersThatAreNoneAreRefusedAtOnce) {
  const Lab lab = create();
  Job job(lab, {0}, {}, [](Rank, const Letter&) -> std::string {
    const auto identifier = Identifier::create();
    if (!identifier) return spoken(identifier.status());
    const std::string good = identifier->text();
    std::string flipped = good;
    flipped[60] = flipped[60] == 'A' ? 'B' : 'A';
    std::string strange = good;
    strange[60] = '!';
    const std::pair<std::string, std::string> cases[] = {{"", "does not begin with tutti1-"},
                                                         {"nonsense", "does not begin with tutti1-"},
                                                         {"other-" + good.substr(7), "does not begin with tutti1-"},
                                                         {good.substr(0, good.size() - 1), "digits instead of"},
                                                         {good + "A", "digits instead of"},
                                                         {flipped, "its checksum is wrong"},
                                                         {strange, "'!' is no digit of it"}};
    for (const auto& [text, why] : cases) {
      const Time start = os::now();
      const std::string said = begin(0, 2, text);
      if (said.find(why) == std::string::npos) return said;
      if (said.find("copy it whole from where Identifier::create() was called") == std::string::npos) return said;
      if (said.find(good.substr(20, 40)) != std::string::npos) return "the secret is told: " + said;
      if (os::now().ns - start.ns > 1'000'000'000) return "it took too long";
    }
    return {};
  });
  job.expect_success();
}

// What a rank says when its identifier leads to the meeting point but has another secret.
TEST_F(Input, AWrongSecretIsNotLetIn) {
  const Lab lab = create();
  const Letter forged;
  const Board board;
  Job job(lab, {0, 1, 1}, {}, [&](Rank rank, const Letter& letter) -> std::string {
    if (rank == 2) {
      const std::string said = begin(1, 2, forged.read());
      ++board.released();
      return said;
    }
    if (rank == 1) {
      auto communicator = Job::join(1, 2, letter.read());
      return communicator ? "" : spoken(communicator.status());
    }
    auto first = Identifier::create();
    auto other = Identifier::create();
    if (!first || !other) return "no identifiers";
    // The address of the first and the secret of the other: bytes 16 to 48, and the checksum at the end.
    std::vector<std::byte> bytes(first->bytes().begin(), first->bytes().end());
    std::copy_n(other->bytes().begin() + 16, 32, bytes.begin() + 16);
    std::uint32_t sum = 2166136261;
    for (std::size_t i = 0; i + 4 < bytes.size(); ++i) {
      sum = (sum ^ std::to_integer<std::uint32_t>(bytes[i])) * 16777619;
    }
    std::memcpy(bytes.data() + bytes.size() - 4, &sum, 4);
    const auto forgery = Identifier::of(bytes);
    if (!forgery) return spoken(forgery.status());
    forged.write(forgery->text());
    if (!Board::wait_for(board.released(), 1)) return "the stranger did not give up";
    letter.write(first->text());
    auto communicator = Job::join(0, 2, first->text());
    return communicator ? "" : spoken(communicator.status());
  });
  const auto texts = job.finish();
  EXPECT_EQ(texts[0], "") << "the others are not disturbed";
  EXPECT_EQ(texts[1], "");
  expect_in(texts[2], {"starting rank 1 of 2", "secret"});
}

TEST_F(Input, RanksOutOfRangeAreRefused) {
  const Lab lab = create();
  Job job(lab, {0}, {}, [](Rank, const Letter&) -> std::string {
    const auto identifier = Identifier::create();
    if (!identifier) return spoken(identifier.status());
    for (const Rank rank : {-1, 2, 1000}) {
      const std::string said = begin(rank, 2, identifier->text());
      if (said.find(fmt::format("rank {} is not one of 2 ranks", rank)) == std::string::npos) return said;
    }
    return {};
  });
  job.expect_success();
}

TEST_F(Input, ARankThatIsStartedTwiceIsNamed) {
  const Lab lab = create();
  Job job(lab, {0, 1, 1}, {}, [](Rank rank, const Letter& letter) -> std::string {
    if (rank > 0) return begin(1, 3, letter.read());
    const auto identifier = Identifier::create();
    if (!identifier) return spoken(identifier.status());
    letter.write(identifier->text());
    return begin(0, 3, identifier->text());
  });
  for (const std::string& text : job.finish()) {
    expect_in(text, {"rank 1 was started twice: as ", "give every process a rank of its own",
                     fmt::format("{}", job.pid(1)), fmt::format("{}", job.pid(2))});
  }
}

TEST_F(Input, SizesThatDifferAreNamed) {
  const Lab lab = create();
  Job job(lab, {0, 1}, {}, [](Rank rank, const Letter& letter) -> std::string {
    if (rank > 0) return begin(1, 4, letter.read());
    const auto identifier = Identifier::create();
    if (!identifier) return spoken(identifier.status());
    letter.write(identifier->text());
    return begin(0, 3, identifier->text());
  });
  for (const std::string& text : job.finish()) expect_in(text, {"with size 3", "with size 4", "the same size"});
}

TEST_F(Input, AMeetingPointThatHasEndedIsNamed) {
  const Lab lab = create();
  const Board board;
  Job job(lab, {0, 1}, {}, [&](Rank rank, const Letter& letter) -> std::string {
    if (rank > 0) return Board::wait_for(board.released(), 1) ? begin(1, 2, letter.read()) : "never released";
    const auto identifier = Identifier::create();
    if (identifier) letter.write(identifier->text());
    return identifier ? "" : spoken(identifier.status());
  });
  ASSERT_TRUE(lab::has_ended(job.pid(0), seconds(20)));
  ++board.released();
  const auto texts = job.finish();
  expect_in(texts[1],
            {"the meeting point at ", "10.77.0.1:", "could not be reached within ", "check that the process"});
}

TEST_F(Input, AMeetingPointThatEndsWhileRanksWaitIsNamed) {
  const Lab lab = create();
  const Board board;
  Job job(lab, {0, 1}, {}, [&](Rank rank, const Letter& letter) -> std::string {
    if (rank > 0) return begin(1, 3, letter.read(), seconds(30));
    const auto identifier = Identifier::create();
    if (identifier) letter.write(identifier->text());
    if (!Board::wait_for(board.released(), 1)) return "never released";
    return identifier ? "" : spoken(identifier.status());
  });
  const Deadline deadline = Deadline::after(os::now(), seconds(20));
  while (job.log(1).find("waiting for 2 of 3 ranks") == std::string::npos && !deadline.has_passed(os::now())) {
    ::usleep(10'000);
  }
  ++board.released();
  const auto texts = job.finish();
  expect_in(texts[1], {"the meeting point at ", "10.77.0.1:", "see why its process ended"});
}

TEST_F(Input, AMeetingPointThatIsCutOffIsNamed) {
  Lab lab = create();
  const Board board;
  Job job(lab, {0, 1}, {}, [&](Rank rank, const Letter& letter) -> std::string {
    if (rank > 0) {
      const std::string text = letter.read();
      if (!Board::wait_for(board.released(), 1)) return "never cut";
      return begin(1, 2, text);
    }
    const auto identifier = Identifier::create();
    if (!identifier) return spoken(identifier.status());
    letter.write(identifier->text());
    ++board.started();
    return begin(0, 2, identifier->text());
  });
  ASSERT_TRUE(Board::wait_for(board.started(), 1));
  ASSERT_TRUE(lab.cut(0));
  ++board.released();
  const auto texts = job.finish();
  expect_in(texts[0], {"waiting for 1 of 2 ranks: 1"});
  expect_in(texts[1],
            {"the meeting point at ", "10.77.0.1:", "could not be reached within ", "that this host can reach it"});
}

}  // namespace
}  // namespace tutti::network
