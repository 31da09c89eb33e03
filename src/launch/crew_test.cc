#include "launch/crew.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>

#include "os/clock.h"

namespace tutti::launch {
namespace {

using namespace std::chrono_literals;

// What a crew tells, and what the agents at the other ends of its lines have been told.
class CrewTest : public testing::Test, private Crew::Listener, private Channel::Owner {
 protected:
  void SetUp() override {
    auto loop = os::EventLoop::create();
    ASSERT_TRUE(loop);
    loop_ = *std::move(loop);
    Crew::Listener& listener = *this;
    crew_ = std::make_unique<Crew>(*loop_, std::vector<std::string>{"a", "b", "c"}, "/bin/tutti", listener);
  }
  // A line to agents without a program, as in a step of Slurm; what it returns is the agent's side.
  Channel& join(const std::vector<HostIndex>& hosts) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    crew_->add({.duct = create_socket_duct(os::FileDescriptor(ends[0])),
                .program = nullptr,
                .greets = Greets::no,
                .way = Way::slurm},
               hosts);
    Channel::Owner& owner = *this;
    agents_.push_back(
        std::make_unique<Channel>(*loop_, create_socket_duct(os::FileDescriptor(ends[1])), Greets::no, owner));
    agents_.back()->start();
    return *agents_.back();
  }
  bool run_until(const std::function<bool()>& is_done, std::chrono::nanoseconds limit = 10s) {
    return loop_->run_until(is_done, Deadline::after(os::now(), limit));
  }

  void heard(HostIndex host, Message message) override { heard_.push_back({.host = host, .message = message}); }
  void lost(HostIndex root, const std::vector<HostIndex>& hosts, const std::string& why) override {
    roots_.push_back(root);
    lost_.insert(lost_.end(), hosts.begin(), hosts.end());
    why_ = why;
  }
  void ended() override { has_ended_ = true; }
  void take(Channel&, std::span<const std::byte> envelope) override { told_.push_back(*parse_envelope(envelope)); }
  void end(Channel& channel, const Status&) override {
    ++agents_told_to_end_;
    loop_->call_later(
        [this, &channel] { std::erase_if(agents_, [&](const auto& agent) { return agent.get() == &channel; }); });
  }

  std::unique_ptr<os::EventLoop> loop_;
  std::unique_ptr<Crew> crew_;
  std::vector<std::unique_ptr<Channel>> agents_;
  std::vector<Envelope> heard_, told_;
  std::vector<HostIndex> roots_, lost_;
  std::string why_;
  bool has_ended_ = false;
  int agents_told_to_end_ = 0;
};

TEST_F(CrewTest, PassesMessagesThroughTheLineOfEachHost) {
  Channel& first = join({0, 2});
  Channel& second = join({1});
  crew_->send_all(Beat{});
  ASSERT_TRUE(run_until([&] { return told_.size() == 3; }));
  first.send(encode({.host = 2, .message = Gone{}}));
  second.send(encode({.host = 1, .message = Beat{}}));
  ASSERT_TRUE(run_until([&] { return heard_.size() == 2; }));
}

TEST_F(CrewTest, WhoSpeaksForHostsOfOthersIsNotHeard) {
  Channel& first = join({0});
  join({1});
  first.send(encode({.host = 1, .message = Gone{}}));
  first.send(encode({.host = 0, .message = Beat{}}));
  ASSERT_TRUE(run_until([&] { return !heard_.empty(); }));
  EXPECT_EQ(heard_.front().host, 0u);
}

TEST_F(CrewTest, TheEndOfALineLosesAllHostsBehindIt) {
  join({0, 2});
  join({1});
  agents_.erase(agents_.begin());
  ASSERT_TRUE(run_until([&] { return !lost_.empty(); }));
  EXPECT_EQ(lost_, (std::vector<HostIndex>{0, 2}));
  EXPECT_EQ(roots_, std::vector<HostIndex>{0});
  EXPECT_NE(why_.find("a did not answer as an agent"), std::string::npos) << why_;
  EXPECT_FALSE(crew_->is_reached(2));
  EXPECT_TRUE(crew_->is_reached(1));
  EXPECT_FALSE(has_ended_);
}

TEST_F(CrewTest, FinishTellsAllToEndAndSaysWhenTheyHave) {
  join({0, 2});
  join({1});
  crew_->finish();
  ASSERT_TRUE(run_until([&] { return has_ended_; }));
  EXPECT_EQ(agents_told_to_end_, 2);
  EXPECT_TRUE(lost_.empty());
  EXPECT_TRUE(crew_->is_empty());
  EXPECT_TRUE(crew_->unanswered().empty());
}

TEST_F(CrewTest, AMessageThatMakesNoSenseEndsTheLine) {
  Channel& first = join({0});
  first.send(encode({.host = 77, .message = Beat{}}));
  ASSERT_TRUE(run_until([&] { return !lost_.empty(); }));
  EXPECT_NE(why_.find("host 77"), std::string::npos) << why_;
}

TEST_F(CrewTest, SilenceIsCountedOnlyWhileSomebodyListens) {
  join({0});
  ASSERT_FALSE(run_until([] { return false; }, 5ms));
  EXPECT_EQ(crew_->silent(1ms), std::vector<HostIndex>{0});
  EXPECT_TRUE(crew_->silent(1h).empty());
  crew_->set_reading(false);
  EXPECT_TRUE(crew_->silent(1ms).empty());
  crew_->set_reading(true);
  EXPECT_TRUE(crew_->silent(1s).empty());
}

TEST_F(CrewTest, AProgramThatIsNoAgentIsQuoted) {
  auto link =
      start_link(*loop_, Way::ssh, {"sh", "-c", "echo 'ssh: connect to host a: Connection refused' >&2; exit 255"});
  ASSERT_TRUE(link) << link.status().text();
  crew_->add(*std::move(link), {0, 1, 2});
  ASSERT_TRUE(run_until([&] { return has_ended_; }));
  EXPECT_EQ(lost_.size(), 3u);
  EXPECT_NE(why_.find("ssh cannot reach a: ssh: connect to host a: Connection refused"), std::string::npos) << why_;
}

}  // namespace
}  // namespace tutti::launch
