// Couriers with actors that write down what they hear, for tests.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "os/clock.h"
#include "os/poll.h"
#include "rpc/courier.h"
#include "rpc/greeting.h"

namespace tutti::rpc {

inline Deadline soon(std::chrono::nanoseconds wait = std::chrono::seconds(30)) {
  return Deadline::after(os::now(), wait);
}

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline const Secret& test_secret() {
  static const Secret secret = *Secret::create();
  return secret;
}

inline CourierOptions loopback_options() {
  CourierOptions options{.secret = test_secret()};
  options.listen = {"127.0.0.1:0"};
  return options;
}

// An actor whose memory can be read and waited for by the test's thread.
class Listener final : public Actor {
 public:
  struct Loss {
    ActorId actor;
    Code code;
    std::string text;
  };

  void receive(ActorId from, std::span<const std::byte> message) override {
    const std::lock_guard lock(mutex_);
    messages_.emplace_back(from, text_of(message));
    changed_.notify_all();
  }
  void lost(ActorId actor, const Status& why) override {
    const std::lock_guard lock(mutex_);
    losses_.push_back({actor, why.code(), std::string(why.text())});
    changed_.notify_all();
  }
  void wake() override {
    const std::lock_guard lock(mutex_);
    ++wakes_;
    changed_.notify_all();
  }

  std::vector<std::pair<ActorId, std::string>> messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  std::vector<Loss> losses() {
    const std::lock_guard lock(mutex_);
    return losses_;
  }
  int wakes() {
    const std::lock_guard lock(mutex_);
    return wakes_;
  }

  // The first so many, once they have come.
  std::vector<std::string> wait_messages(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return messages_.size() >= count; }));
    std::vector<std::string> texts;
    for (const auto& [from, text] : messages_) texts.push_back(text);
    texts.resize(count);
    return texts;
  }
  Loss wait_loss(std::size_t index = 0) {
    std::unique_lock lock(mutex_);
    const bool has_come = changed_.wait_for(lock, kPatience, [&] { return losses_.size() > index; });
    EXPECT_TRUE(has_come);
    return has_come ? losses_[index] : Loss{{}, Code::ok, "nothing was lost"};
  }
  void wait_wakes(int count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return wakes_ >= count; }));
  }

 private:
  static constexpr std::chrono::seconds kPatience{30};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<ActorId, std::string>> messages_;
  std::vector<Loss> losses_;
  int wakes_ = 0;
};

// A courier with one listening actor at service 7.
struct Station {
  explicit Station(const CourierOptions& options = loopback_options(), Service service = 7)
      : courier(start(options)), world(*courier->attach(service, listener)) {}

  static std::unique_ptr<Courier> start(const CourierOptions& options) {
    auto started = Courier::start(options);
    EXPECT_TRUE(started) << started.status().text();
    return *std::move(started);
  }
  void send(const Contact& to, std::string_view text) {
    courier->run([&] { world->send(to, bytes_of(text)); });
  }
  void send(const Station& to, std::string_view text) { send(to.courier->contact(), text); }
  void forget(const Station& other) {
    courier->run([&] { world->forget(other.courier->id()); });
  }
  ActorId id() const { return courier->id(); }

  Listener listener;
  std::unique_ptr<Courier> courier;
  std::unique_ptr<World> world;
};

// Brings a greeting to its end, blocking.
inline Result<Greeted> greet(Result<Greeting> greeting) {
  if (!greeting) return greeting.status();
  while (true) {
    TUTTI_ASSIGN(const bool is_done, greeting->advance());
    if (is_done) return std::move(*greeting).take();
    const short events = greeting->wants_write() ? POLLOUT : POLLIN;
    if (!os::poll_until(greeting->fd(), events, soon())) return Status(Code::timed_out, "the greeting did not end");
  }
}

inline os::TcpSocket connect_to(const Station& station) {
  return *os::TcpSocket::connect(*os::TcpAddress::parse(station.courier->addresses().front()), {}, {}, soon());
}

inline void write_bytes(os::TcpSocket& socket, std::span<const std::byte> bytes) {
  const iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  EXPECT_TRUE(socket.try_write({&part, 1}));
}

// Looks again until it is true; what is waited for is outside of this process's sight.
template <class Condition>
bool eventually(Condition condition) {
  const Deadline deadline = soon();
  while (!condition()) {
    if (deadline.has_passed(os::now())) return false;
    sched_yield();
  }
  return true;
}

}  // namespace tutti::rpc
