// A wire over TCP connections: one, or several over different networks that share the load and stand in for each other.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transport/conduit_wire.h"
#include "transport/incoming.h"
#include "transport/outgoing.h"

namespace tutti::transport {

// Large values go in parts over whichever connection has room, so that each carries what it can. With several
// connections a value stays where it is until the other side has taken it: should one break, what was on it is sent
// again over the others. Messages have numbers and counters only grow, so what comes twice does no harm.
class TcpWire final : public ConduitWire {
 public:
  // `rails`: how many connections will come.
  TcpWire(const std::array<Remote*, kPorts>& ports, std::size_t rails, Warn warn);

  void add(rpc::Conduit conduit, std::size_t rail, std::string name) override;
  void fail(const Status& why) override;
  // Connections that carry data now, by name.
  std::vector<std::string> rails() const;

  void send_entry(Port port, const Announcement& announcement, bool is_urgent) override;
  void send_token(Port port, std::uint32_t lane, std::uint32_t number) override;
  void send_value(const Parcel& parcel) override;
  void send_taken(Port port, std::uint32_t lane, std::uint32_t count, bool is_urgent) override;
  bool is_connected() const override;
  bool keeps(std::uint64_t value_bytes) const override { return has_spare() && value_bytes > kKeptBytesMax; }
  std::uint32_t values_gone(Port port, std::uint32_t lane) const override;
  bool is_flushed() const override;
  Status progress() override;
  void drop_unanswered(std::chrono::milliseconds silence) override;
  bool has_unacknowledged() const override;
  std::size_t bytes() const override { return sizeof(*this); }
  void add_to(std::vector<pollfd>& polled) const override;
  void close() noexcept override;

 private:
  static constexpr std::size_t kPartBytes = 128 << 10;
  static constexpr std::size_t kAnnouncementsKept = 4;

  struct Rail {
    std::size_t index = 0;
    std::string name;
    rpc::Conduit conduit;
    Outgoing outgoing;
    std::unique_ptr<Incoming> incoming;
    bool is_deaf = false;  // the other side has closed it; what it had sent before is still to be read

    // An encrypted connection may keep what it has taken.
    bool is_flushed() const { return is_deaf || (outgoing.is_empty() && !conduit.wants_write()); }
  };
  // A part of a value that no connection has taken yet.
  struct Part {
    FrameHeader header;
    std::span<const ChunkBytes> sizes;
    std::vector<Stretch> data;
  };
  // Copying up to so much takes less time than the way of the word that it was taken.
  static constexpr std::size_t kKeptBytesMax = 16 << 10;
  // A value that may have to be sent again. Small ones are copied, so that nobody has to wait until they are taken.
  struct Sent {
    std::uint32_t number = 0;
    std::uint32_t ordinal = 0;
    std::span<const ChunkBytes> sizes;
    std::vector<Stretch> data;
    std::vector<ChunkBytes> own_sizes = {};
    std::vector<std::byte> own_data = {};
  };
  struct LaneState {
    Counter gone = 0;
    std::uint32_t last_number = 0;
    // With several connections only: not known to be taken; the end of those that are where the caller has them; the
    // end of all.
    std::deque<Sent> sent;
    Counter held = 0;
    Counter queued = 0;
  };

  bool has_spare() const { return rail_count_ > 1; }
  LaneState& lane_of(std::size_t port, std::uint32_t lane) { return lanes_[port * kLanesMax + lane]; }
  const LaneState& lane_of(std::size_t port, std::uint32_t lane) const { return lanes_[port * kLanesMax + lane]; }
  // All with the mutex held.
  Outgoing& first_queue();
  void queue_value(const Parcel& parcel);
  void queue_whole(const Parcel& parcel);
  static Sent copy_of(const Parcel& parcel);
  void queue_parts(const Sent& value, Port port, std::uint32_t lane);
  void push();
  void push_rail(Rail& rail);
  Status write_queue(Rail& rail);
  Rail* find_idlest() const;
  void take_part(Rail& rail);
  void lose(std::size_t position, const Status& why);
  void ask_again(std::size_t rail);
  void answer_requests();
  void repeat(const FrameHeader& header);
  void forget_taken(Port port, std::uint32_t lane);

  std::array<Remote*, kPorts> ports_;
  std::size_t rail_count_;
  Warn warn_;
  // A mutex because every thread that waits on any channel of the rank moves what there is.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Rail>> rails_;
  Outgoing before_;  // sent before there was a connection
  std::deque<Part> parts_;
  std::array<LaneState, kPorts * kLanesMax> lanes_;
  std::array<std::deque<Announcement>, kPorts> announcements_;
  std::vector<FrameHeader> requests_;  // of the other side, to be sent again what was lost
  bool is_urgent_ = false;             // something is queued that must go before a call ends
  bool is_closed_ = false;
  bool has_connected_ = false;
  Status failure_;
};

}  // namespace tutti::transport
