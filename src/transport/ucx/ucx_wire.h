// A wire over UCX, which moves large values straight from the memory of one process to that of another.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "transport/conduit_wire.h"
#include "transport/incoming.h"
#include "transport/ucx/ucx_words.h"
#include "transport/ucx/ucx_worker.h"

namespace tutti::transport {

// The connection that add() brings carries no data. Over it, once both sides have proved who they are, they tell each
// other where their workers are and which ticket their messages need; after that it shows that the other side lives,
// and its last word is how many messages there were.
//
// Words and small values go together, copied, as a train of frames. A large value goes in as many messages as it has
// stretches of memory, from where it lies to where Remote::place_of() says.
class UcxWire final : public ConduitWire, private UcxClient {
 public:
  // shared: by all wires of the rank.
  UcxWire(std::shared_ptr<UcxWorker> worker, const std::array<Remote*, kPorts>& ports);
  ~UcxWire() override { close(); }

  void add(rpc::Conduit conduit, std::size_t rail, std::string name) override;
  void fail(const Status& why) override;
  // Of the connection alone: UCX watches over its own data, and close() waits for it.
  void drop_unanswered(std::chrono::milliseconds silence) override;
  bool has_unacknowledged() const override;
  std::size_t bytes() const override { return sizeof(*this); }

  void send_entry(Port port, const Announcement& announcement, bool is_urgent) override;
  void send_token(Port port, std::uint32_t lane, std::uint32_t number) override;
  void send_value(const Parcel& parcel) override;
  void send_taken(Port port, std::uint32_t lane, std::uint32_t count, bool is_urgent) override;
  bool is_connected() const override;
  bool keeps(std::uint64_t) const override { return false; }
  std::uint32_t values_gone(Port port, std::uint32_t lane) const override;
  bool is_flushed() const override;
  Status progress() override;
  void add_to(std::vector<pollfd>& polled) const override;
  void close() noexcept override;

 private:
  struct LaneState {
    Counter gone = 0;
    // Parts that are still to go, of the values after those. They may end in another order than they began.
    std::deque<std::uint32_t> parts_left;
  };

  void take(const UcxMessage& message) override;
  void end(const UcxFlight& flight, const Status& status) override;
  void lose(const Status& why) override;

  // All with the worker's mutex held.
  LaneState& lane_of(const FrameHeader& header) { return lanes_[header.port * kLanesMax + header.lane]; }
  void add_to_train(const FrameHeader& header, std::span<const std::byte> head, std::span<const Stretch> data);
  void seal_train();
  void queue_value(const FrameHeader& header, const Parcel& parcel);
  UcxFlight& add_flight(UcxKind kind, const FrameHeader& header, std::span<const std::byte> sizes);
  void count_part_gone(const FrameHeader& header);
  void push();

  Status take_frames(std::span<const std::byte> frames);
  Status take_value(const UcxMessage& message);
  void fetch_value(const FrameHeader& header, const UcxMessage& message, bool has_sizes_in_data);

  // Over the connection; in ucx_wire_talk.cc.
  Status talk();
  Status read_words();
  Status write_words();
  Status understand_words();
  void conclude();

  std::shared_ptr<UcxWorker> worker_;
  std::array<Remote*, kPorts> ports_;
  UcxTicket mine_;    // that messages to this wire have
  UcxTicket theirs_;  // that messages from it have
  std::optional<rpc::Conduit> conduit_;
  std::vector<std::byte> words_out_;  // still to be written to the connection
  std::vector<std::byte> words_in_;   // read from it and not understood yet
  UcxEndpoint* endpoint_ = nullptr;   // nullptr: the other side's worker is not known yet

  std::vector<std::byte> train_;
  std::deque<UcxFlight*> waiting_;  // to be sent
  std::array<LaneState, kPorts * kLanesMax> lanes_;
  std::size_t sending_ = 0;
  std::size_t fetching_ = 0;
  std::uint64_t messages_sent_ = 0;
  bool is_urgent_ = false;  // something waits that must go before a call ends

  Incoming incoming_;
  std::span<const std::byte> unread_;  // of the train that has come
  std::uint64_t messages_received_ = 0;
  std::optional<std::uint64_t> messages_expected_;  // the other side has ended after so many
  Deadline drained_by_;

  std::uint32_t turns_ = 0;
  mutable bool has_slept_ = false;  // so that what woke the caller may be the connection
  bool has_connected_ = false;
  bool is_closed_ = false;
  Status ending_;   // why nothing more will be sent; what is on its way may still come
  Status failure_;  // why nothing more will come
};

}  // namespace tutti::transport
