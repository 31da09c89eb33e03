// A world for thousands of actors under a virtual clock: delays, crashes, hangs and cuts, all drawn from one seed, so
// that what went wrong once goes wrong again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "base/world.h"

namespace tutti::sim {

// Times are drawn between the two ends.
struct Range {
  std::chrono::nanoseconds least;
  std::chrono::nanoseconds most;
};

// How machines and networks behave here. The defaults are those of real ones, somewhat unkind.
struct Nature {
  Range latency{std::chrono::microseconds(20), std::chrono::milliseconds(3)};  // of a pair, drawn once
  Range jitter{std::chrono::nanoseconds(0), std::chrono::milliseconds(1)};     // of each message, on top
  // From the end of a process until a peer hears of it.
  Range end_notice{std::chrono::milliseconds(1), std::chrono::milliseconds(100)};
  // From the first message that vanishes until its sender hears of it.
  Range loss_notice{std::chrono::milliseconds(500), std::chrono::seconds(3)};
  Range connect_timeout{std::chrono::seconds(1), std::chrono::seconds(3)};
};

using ActorFactory = std::function<std::unique_ptr<Actor>(tutti::World& world, const Contact& self)>;

struct Traffic {
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::size_t connections = 0;
  std::size_t connections_max = 0;  // at any time so far
};

// Connections are opened by the first message and closed when one end forgets the other. Order holds within one
// direction of a connection; what vanishes takes all that follows with it until the sender hears lost().
class World {
 public:
  explicit World(std::uint64_t seed, Nature nature = {});
  ~World();

  Contact spawn(const ActorFactory& factory);
  Time now() const { return now_; }
  Random& random() { return random_; }

  // All of these take effect in the order of their times; without one, at once but not inside a callback.
  void at(Time time, std::function<void()> action);
  void crash(ActorId actor);   // the process ends: connections break, new ones are refused
  void hang(ActorId actor);    // as SIGSTOP does: what comes is kept and nothing is done
  void resume(ActorId actor);  // everything that was kept comes at once
  void slow_down(ActorId actor, int factor);
  // Nothing that the first say reaches the others any more, silently. For both ways, cut twice.
  void cut(std::span<const ActorId> from, std::span<const ActorId> to);
  void heal();  // of all cuts

  // Whether the predicate came true before the deadline. It is asked after every event.
  bool run_until(const std::function<bool()>& predicate, Time deadline);
  void run_for(std::chrono::nanoseconds time);

  bool lives(ActorId actor) const;
  bool is_hung(ActorId actor) const;
  bool can_reach(ActorId from, ActorId to) const;  // as far as cuts go
  Traffic traffic(ActorId actor) const;
  std::uint64_t trace() const { return trace_; }  // of all that has happened: equal for equal seeds
  void watch(std::function<void(std::string_view)> line) { watch_ = std::move(line); }  // for a person who debugs

 private:
  class Place;
  struct Node;
  struct Connection;
  struct Cut;
  enum class Kind : std::uint8_t { opened, deliver, broken, closed, lost, wake, action };
  struct Event {
    Time time;
    std::uint64_t order = 0;
    Kind kind = Kind::action;
    std::uint32_t node = 0;    // whom it happens to
    std::uint32_t other = 0;   // about whom
    std::uint64_t number = 0;  // of the connection, the wake or the action
    std::shared_ptr<const Bytes> message = {};
    Status why = {};
    bool operator>(const Event& with) const { return time != with.time ? time > with.time : order > with.order; }
  };

  void send(std::uint32_t from, const Contact& to, Bytes message);
  void forget(std::uint32_t node, ActorId actor);
  void wake_at(std::uint32_t node, Time time);

  void schedule(Event event);
  void step();
  void happen(Event& event);
  void opened(const Event& event);
  void deliver(Event& event);
  void broken(const Event& event);
  void closed(const Event& event);
  void ended(std::uint32_t node);
  void tell_lost(std::uint32_t node, std::uint32_t about, Time time, Status why);
  void transmit(Connection& connection, std::uint32_t from, std::shared_ptr<const Bytes> message);
  void close_later(Connection& connection, std::uint32_t by);
  void erase(const Connection& connection);
  Connection* find(std::uint32_t a, std::uint32_t b);
  Connection* find_same(const Event& event);  // nullptr: the connection of the event has been replaced or is gone
  Connection& open(std::uint32_t from, std::uint32_t to);
  bool is_cut(std::uint32_t from, std::uint32_t to) const;
  bool resolve(const Contact& contact, std::uint32_t& node) const;
  std::chrono::nanoseconds latency(std::uint32_t a, std::uint32_t b) const;
  std::chrono::nanoseconds draw(Range range);
  std::shared_ptr<const Bytes> shared(Bytes message);
  void note(const Event& event);

  Nature nature_;
  Random random_;
  std::uint64_t latency_seed_;
  Time now_{1'000'000'000};
  std::uint64_t order_ = 0;
  std::uint64_t connection_count_ = 0;
  std::uint64_t trace_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_id_;
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::vector<Cut> cuts_;
  std::vector<std::function<void()>> actions_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::shared_ptr<const Bytes> last_long_;  // a roster goes to thousands: one copy of it is enough
  std::function<void(std::string_view)> watch_;
};

inline Time after(Time time, std::chrono::nanoseconds span) { return Deadline::after(time, span).at; }

}  // namespace tutti::sim
