// The wires of one rank to the ranks on other hosts. They are opened when a plan needs them.
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/deadline.h"
#include "transport/conduit_wire.h"

namespace tutti::comm {

// What the two ends of a connection tell each other of it.
struct LinkHello {
  std::uint64_t communicator = 0;
  Rank from = 0;
  Rank to = 0;
  std::uint32_t rail = 0;
  std::uint32_t rails = 1;

  std::vector<std::byte> pack() const;
  static Result<LinkHello> parse(std::span<const std::byte> bytes);
};

// One rank's end of what two ranks share: mirrors of the other's blocks, and the wire that keeps them up to date.
struct Link {
  std::array<std::unique_ptr<transport::Remote>, transport::kPorts> remotes;
  std::unique_ptr<transport::ConduitWire> wire;
  bool is_begun = false;  // somebody has connected, or is about to
};

class Links {
 public:
  struct Shape {
    std::uint64_t communicator = 0;
    Rank rank = 0;
    Rank size = 1;
    std::size_t collective_bytes = 0;  // most that a value has
    std::size_t pair_bytes = 0;
    transport::Bell* bell = nullptr;
  };
  // How many connections lead to a rank, and the how-manieth of them made now.
  struct Dialer {
    std::function<std::uint32_t(Rank)> rails;
    // The wire to a rank, over so many connections. Both ends come to the same kind by themselves.
    std::function<Result<std::unique_ptr<transport::ConduitWire>>(
        Rank, const std::array<transport::Remote*, transport::kPorts>&, std::uint32_t rails)>
        wire;
    std::function<Result<rpc::Conduit>(Rank, std::uint32_t rail, std::span<const std::byte> hello, Deadline)> dial;
    std::function<std::string(Rank, std::uint32_t rail)> name;  // of a connection, for people
    std::function<void(const std::string&)> warn;
    std::function<bool(Rank)> is_gone;
    std::chrono::milliseconds silence;      // after which a connection that does not answer is lost
    std::function<std::string()> carriers;  // what carries data, for people
    bool is_encrypted = false;
  };
  Links(const Shape& shape, Dialer dialer);
  ~Links();

  // The link to a rank. Of two ranks the lower one connects, when it first needs to; what the other one sends before
  // waits for that.
  Result<Link*> open(Rank other, Deadline deadline);
  // A connection that another rank has made.
  void accept(const LinkHello& hello, rpc::Conduit conduit);
  // The port for messages from one rank to another, and the port's number of this rank's own end.
  static transport::Port message_port(Rank from, Rank to) {
    return from < to ? transport::Port::from_lower : transport::Port::from_higher;
  }

  // "eth0 to rank 2 (10.0.0.1 to 10.0.0.2) and ...": the connections that lead, or would lead, to a rank.
  std::string ways_to(Rank other) const;
  // "UCX 1.13.1 carries data between hosts".
  std::string carriers() const { return dialer_.carriers(); }
  // Takes what has come over any of them, also for calls that nobody has made yet: what is left there would wake at
  // once whoever goes to sleep on them.
  void progress();
  void add_to(std::vector<pollfd>& polled) const;
  bool is_encrypted() const { return dialer_.is_encrypted; }
  // While somebody waits for long.
  void drop_unanswered();
  // Until what was sent has come to the other machines, which closing a connection does not wait for.
  void settle() const;
  void close() noexcept;
  std::size_t bytes() const;

 private:
  Result<Link*> link_of(Rank other, std::uint32_t rails);

  Shape shape_;
  Dialer dialer_;
  // A mutex because connections come on another thread than calls.
  mutable std::mutex mutex_;
  std::map<Rank, std::unique_ptr<Link>> links_;
  bool is_closed_ = false;
};

}  // namespace tutti::comm
