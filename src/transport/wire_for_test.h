// Two ranks and the wire between them, for the tests of every kind of wire.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"
#include "os/clock.h"
#include "rpc/courier.h"
#include "transport/conduit_wire.h"

namespace tutti::transport {

inline constexpr std::size_t kValueBytesMax = 1 << 20;

// Makes the wire of a rank.
using CreateWire = std::function<std::unique_ptr<ConduitWire>(Rank, const std::array<Remote*, kPorts>&)>;

// Two ranks of a communicator of two, connected by so many connections over loopback.
class WirePair {
 public:
  WirePair(std::size_t rails, const CreateWire& create) {
    for (Rank rank = 0; rank < 2; ++rank) {
      auto& end = ends_[static_cast<std::size_t>(rank)];
      std::array<Remote*, kPorts> ports{};
      for (std::size_t port = 0; port < kPorts; ++port) {
        end.remotes[port] = std::make_unique<Remote>(2, rank, kValueBytesMax, &end.bell);
        ports[port] = end.remotes[port].get();
      }
      end.wire = create(rank, ports);
    }
    const auto secret = rpc::Secret::create();
    for (auto& end : ends_) {
      end.courier = *rpc::Courier::start({.secret = *secret, .listen = {"127.0.0.1:0"}});
    }
    std::mutex mutex;
    std::vector<rpc::Conduit> accepted;
    ends_[1].courier->on_data([&](ActorId, Bytes, rpc::Conduit conduit) {
      const std::lock_guard lock(mutex);
      accepted.push_back(std::move(conduit));
    });
    const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(20));
    for (std::size_t rail = 0; rail < rails; ++rail) {
      auto conduit = ends_[0].courier->connect_data(ends_[1].courier->contact(), {}, deadline);
      EXPECT_TRUE(conduit.is_ok()) << conduit.status().text();
      descriptors_.push_back(conduit->fd());
      ends_[0].wire->add(*std::move(conduit), rail, "rail " + std::to_string(rail));
      for (bool has_come = false; !has_come && !deadline.has_passed(os::now());) {
        const std::lock_guard lock(mutex);
        has_come = !accepted.empty();
        if (!has_come) continue;
        ends_[1].wire->add(std::move(accepted.back()), rail, "rail " + std::to_string(rail));
        accepted.pop_back();
      }
    }
  }

  ConduitWire& wire(Rank rank) { return *ends_[static_cast<std::size_t>(rank)].wire; }
  // What `rank` sees of the other.
  Remote& remote(Rank rank, Port port = Port::collective) {
    return *ends_[static_cast<std::size_t>(rank)].remotes[static_cast<std::size_t>(port)];
  }
  std::uint32_t messages(Rank rank, std::uint32_t lane = 0) {
    return remote(rank).block().sent(lane, rank).load(std::memory_order_acquire);
  }
  template <class Done>
  Status progress_until(const Done& done) {
    const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(20));
    while (!done()) {
      if (deadline.has_passed(os::now())) return Status(Code::timed_out, "nothing happens any more");
      TUTTI_TRY(progress_once());
    }
    return {};
  }
  Status progress_once() {
    TUTTI_TRY(wire(0).progress());
    return wire(1).progress();
  }
  // As if a network had gone: the socket of that connection says nothing any more, to either side.
  void break_rail(std::size_t rail) { ::shutdown(descriptors_[rail], SHUT_RDWR); }

 private:
  struct End {
    Bell bell{};
    std::unique_ptr<rpc::Courier> courier;
    std::array<std::unique_ptr<Remote>, kPorts> remotes;
    std::unique_ptr<ConduitWire> wire;
  };
  std::array<End, 2> ends_;
  std::vector<int> descriptors_;
};

inline std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

struct Sending {
  std::vector<std::byte> data;
  std::vector<ChunkBytes> sizes;

  Parcel parcel(std::uint32_t number, std::uint32_t ordinal, std::uint32_t lane = 0) {
    stretches = {{data.data(), data.size()}};
    return {.lane = lane, .number = number, .ordinal = ordinal, .sizes = sizes, .data = stretches};
  }
  std::vector<Stretch> stretches;
};

inline Sending value_of(Random& random, std::size_t bytes) {
  Sending sending{.data = random_bytes(random, bytes), .sizes = {static_cast<ChunkBytes>(bytes)}, .stretches = {}};
  return sending;
}

inline void expect_value(WirePair& pair, std::uint32_t ordinal, const Sending& sending) {
  const Remote::Value value = pair.remote(1).value(0, ordinal);
  ASSERT_EQ(value.sizes.size(), sending.sizes.size());
  ASSERT_FALSE(value.has_landed);
  EXPECT_TRUE(std::equal(sending.data.begin(), sending.data.end(), value.data)) << "value " << ordinal;
}

}  // namespace tutti::transport
