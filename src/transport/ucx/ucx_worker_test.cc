#include "transport/ucx/ucx_worker.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>

#include "os/clock.h"
#include "transport/ucx/ucx_words.h"

namespace tutti::transport {
namespace {

class Listener final : public UcxClient {
 public:
  void take(const UcxMessage& message) override { taken.push_back(message.bytes); }
  void end(const UcxFlight&, const Status& status) override {
    ++ended;
    last = status;
  }
  void lose(const Status& why) override { last = why; }

  std::vector<std::size_t> taken;
  int ended = 0;
  Status last;
};

class UcxWorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("UCX_LOG_LEVEL", "fatal", 0);  // before it is loaded, for the tests that come after in this process
    setenv("UCX_TLS", "tcp,self", 1);
    for (auto& worker : workers_) {
      auto created = UcxWorker::create();
      if (!created) GTEST_SKIP() << created.status().text();
      worker = *std::move(created);
    }
  }

  template <class Done>
  bool progress_until(const Done& done) {
    const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(20));
    while (!done()) {
      if (deadline.has_passed(os::now())) return false;
      for (const auto& worker : workers_) worker->progress();
    }
    return true;
  }

  void send(Listener& from, UcxEndpoint& endpoint, const UcxTicket& ticket, std::vector<std::byte>& data) {
    UcxFlight& flight = workers_[0]->create_flight(from);
    append(flight.head, word_bytes(ticket));
    flight.touches_caller = true;
    flight.pieces = {{data.data(), data.size()}};
    workers_[0]->send(endpoint, flight);
  }

  std::array<std::shared_ptr<UcxWorker>, 2> workers_;
};

TEST_F(UcxWorkerTest, DropsWhatHasNoTicket) {
  const UcxTicket ticket{{7, 8}};
  Listener sender;
  Listener listener;
  workers_[1]->admit(ticket, listener);
  const auto endpoint = workers_[0]->connect(workers_[1]->address(), sender);
  ASSERT_TRUE(endpoint) << endpoint.status().text();
  std::vector<std::byte> small(10);
  std::vector<std::byte> large(1 << 20);
  send(sender, **endpoint, {{7, 9}}, small);
  send(sender, **endpoint, {{0, 0}}, large);  // one that is only announced is not fetched either
  send(sender, **endpoint, ticket, small);
  ASSERT_TRUE(progress_until([&] { return sender.ended == 3 && !listener.taken.empty(); }));
  EXPECT_EQ(listener.taken, std::vector<std::size_t>{10});
  EXPECT_EQ(workers_[1]->strangers(), 2u);
  workers_[0]->dismiss({}, sender, *endpoint);
  workers_[1]->dismiss(ticket, listener, nullptr);
}

TEST_F(UcxWorkerTest, WakesWhoeverWaitsOnItsDescriptor) {
  const UcxTicket ticket{{1, 2}};
  Listener sender;
  Listener listener;
  workers_[1]->admit(ticket, listener);
  const auto endpoint = workers_[0]->connect(workers_[1]->address(), sender);
  ASSERT_TRUE(endpoint) << endpoint.status().text();
  std::vector<std::byte> data(10);
  send(sender, **endpoint, ticket, data);
  ASSERT_TRUE(progress_until([&] { return listener.taken.size() == 1; }));
  while (workers_[1]->progress() > 0) continue;
  pollfd polled{.fd = workers_[1]->armed_descriptor(), .events = POLLIN, .revents = 0};
  send(sender, **endpoint, ticket, data);
  workers_[0]->progress();
  EXPECT_EQ(poll(&polled, 1, 20000), 1);
  EXPECT_TRUE(progress_until([&] { return listener.taken.size() == 2; }));
  workers_[0]->dismiss({}, sender, *endpoint);
  workers_[1]->dismiss(ticket, listener, nullptr);
}

TEST_F(UcxWorkerTest, ACallerHearsNothingMoreOnceDismissed) {
  Listener sender;
  const auto endpoint = workers_[0]->connect(workers_[1]->address(), sender);
  ASSERT_TRUE(endpoint) << endpoint.status().text();
  std::vector<std::byte> large(1 << 20);
  send(sender, **endpoint, {{5, 5}}, large);
  workers_[0]->dismiss({}, sender, *endpoint);
  const int ended = sender.ended;
  for (int i = 0; i < 1000; ++i) {
    for (const auto& worker : workers_) worker->progress();
  }
  EXPECT_EQ(sender.ended, ended);
}

}  // namespace
}  // namespace tutti::transport
