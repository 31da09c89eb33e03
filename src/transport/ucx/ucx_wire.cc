#include "transport/ucx/ucx_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "os/entropy.h"
#include "transport/ucx/ucx_words.h"

namespace tutti::transport {

namespace {

// Below this a copy costs less than a message of its own.
constexpr std::size_t kCopiedBytesMax = 4096;
// A value in more pieces than this goes as one message, which UCX gathers: each message costs more than a small copy.
constexpr std::size_t kPartsMax = 8;

std::size_t bytes_of(std::span<const Stretch> data) {
  std::size_t bytes = 0;
  for (const Stretch& stretch : data) bytes += stretch.bytes;
  return bytes;
}

// Neighbours become one: what lies in one piece needs one message.
void add_piece(std::vector<ucp_dt_iov_t>& pieces, const Stretch& stretch) {
  if (stretch.bytes == 0) return;
  if (!pieces.empty() && static_cast<std::byte*>(pieces.back().buffer) + pieces.back().length == stretch.data) {
    pieces.back().length += stretch.bytes;
  } else {
    pieces.push_back({stretch.data, stretch.bytes});
  }
}

FrameHeader header_of(FrameKind kind, Port port, std::uint32_t lane, std::uint32_t number) {
  return {
      .kind = kind, .port = static_cast<std::uint8_t>(port), .lane = static_cast<std::uint8_t>(lane), .number = number};
}

Status nonsense(std::string text) { return {Code::network, std::move(text), Scope::communicator}; }

}  // namespace

UcxWire::UcxWire(std::shared_ptr<UcxWorker> worker, const std::array<Remote*, kPorts>& ports)
    : worker_(std::move(worker)), ports_(ports), incoming_(ports, [this](std::span<const iovec> pieces) {
        std::size_t total = 0;
        for (const iovec& piece : pieces) {
          const std::size_t bytes = std::min(piece.iov_len, unread_.size());
          std::memcpy(piece.iov_base, unread_.data(), bytes);
          unread_ = unread_.subspan(bytes);
          total += bytes;
        }
        return Result<std::size_t>(total);
      }) {
  const std::lock_guard lock(worker_->mutex());
  failure_ = os::fill_random(std::as_writable_bytes(std::span(&mine_, 1)));
  if (failure_) worker_->admit(mine_, *this);
}

void UcxWire::add_to_train(const FrameHeader& header, std::span<const std::byte> head, std::span<const Stretch> data) {
  append(train_, word_bytes(header));
  append(train_, head);
  for (const Stretch& stretch : data) append(train_, {stretch.data, stretch.bytes});
}

void UcxWire::send_entry(Port port, const Announcement& announcement, bool is_urgent) {
  const std::lock_guard lock(worker_->mutex());
  add_to_train(header_of(FrameKind::entry, port, 0, 0), word_bytes(announcement), {});
  if (is_urgent) push();
}

void UcxWire::send_token(Port port, std::uint32_t lane, std::uint32_t number) {
  const std::lock_guard lock(worker_->mutex());
  add_to_train(header_of(FrameKind::token, port, lane, number), {}, {});
  push();
}

void UcxWire::send_taken(Port port, std::uint32_t lane, std::uint32_t count, bool is_urgent) {
  const std::lock_guard lock(worker_->mutex());
  add_to_train(header_of(FrameKind::taken, port, lane, count), {}, {});
  if (is_urgent) push();
}

void UcxWire::send_value(const Parcel& parcel) {
  const std::lock_guard lock(worker_->mutex());
  if (is_closed_) return;
  FrameHeader header = header_of(FrameKind::value, parcel.port, parcel.lane, parcel.number);
  header.ordinal = parcel.ordinal;
  header.chunks = static_cast<std::uint32_t>(parcel.sizes.size());
  header.value_bytes = header.part_bytes = bytes_of(parcel.data);
  if (header.value_bytes <= kCopiedBytesMax) {
    add_to_train(header, std::as_bytes(parcel.sizes), parcel.data);
    lane_of(header).parts_left.push_back(1);
    count_part_gone(header);
  } else {
    seal_train();
    queue_value(header, parcel);
  }
  push();
}

UcxFlight& UcxWire::add_flight(UcxKind kind, const FrameHeader& header, std::span<const std::byte> sizes) {
  UcxFlight& flight = worker_->create_flight(*this);
  flight.header = header;
  flight.touches_caller = true;
  flight.head.resize(sizeof(UcxTicket));  // the other side's, known when it is sent
  append(flight.head, word_bytes(kind));
  append(flight.head, word_bytes(header));
  append(flight.head, sizes);
  waiting_.push_back(&flight);
  return flight;
}

void UcxWire::queue_value(const FrameHeader& header, const Parcel& parcel) {
  std::vector<ucp_dt_iov_t> pieces;
  for (const Stretch& stretch : parcel.data) add_piece(pieces, stretch);
  const auto sizes = std::as_bytes(parcel.sizes);
  const bool do_sizes_fit = kUcxHeadBytes + kFrameHeaderBytes + sizes.size() <= worker_->head_bytes_max();
  if (!do_sizes_fit || pieces.size() > kPartsMax) {
    UcxFlight& flight = add_flight(UcxKind::value_after_sizes, header, {});
    append(flight.kept, sizes);
    flight.pieces.push_back({flight.kept.data(), flight.kept.size()});
    flight.pieces.insert(flight.pieces.end(), pieces.begin(), pieces.end());
    lane_of(header).parts_left.push_back(1);
    return;
  }
  FrameHeader part = header;
  for (const ucp_dt_iov_t& piece : pieces) {
    part.part_bytes = piece.length;
    add_flight(UcxKind::value, part, part.chunks > 0 ? sizes : std::span<const std::byte>()).pieces.push_back(piece);
    part.part_at += piece.length;
    part.chunks = 0;
  }
  lane_of(header).parts_left.push_back(static_cast<std::uint32_t>(pieces.size()));
}

// Values are counted as gone in their order, since the count stands for the places in which they lay.
void UcxWire::count_part_gone(const FrameHeader& header) {
  LaneState& lane = lane_of(header);
  --lane.parts_left[header.ordinal - lane.gone.load(std::memory_order_relaxed)];
  while (!lane.parts_left.empty() && lane.parts_left.front() == 0) {
    lane.parts_left.pop_front();
    // release: pairs with the acquire in values_gone, after which the memory is used again
    lane.gone.fetch_add(1, std::memory_order_release);
  }
}

std::uint32_t UcxWire::values_gone(Port port, std::uint32_t lane) const {
  return lanes_[static_cast<std::size_t>(port) * kLanesMax + lane].gone.load(std::memory_order_acquire);
}

void UcxWire::seal_train() {
  if (train_.empty()) return;
  UcxFlight& flight = worker_->create_flight(*this);
  flight.head.resize(sizeof(UcxTicket));
  append(flight.head, word_bytes(UcxKind::frames));
  flight.kept.swap(train_);
  flight.pieces = {{flight.kept.data(), flight.kept.size()}};
  waiting_.push_back(&flight);
}

// Sends what waits. It is urgent as long as it cannot.
void UcxWire::push() {
  is_urgent_ = true;
  if (endpoint_ == nullptr || is_closed_ || !ending_) return;
  seal_train();
  while (!waiting_.empty()) {
    UcxFlight& flight = *waiting_.front();
    waiting_.pop_front();
    std::memcpy(flight.head.data(), &theirs_, sizeof(theirs_));
    ++sending_;
    ++messages_sent_;
    worker_->send(*endpoint_, flight);
  }
  is_urgent_ = false;
}

bool UcxWire::is_flushed() const {
  const std::lock_guard lock(worker_->mutex());
  return is_closed_ || !failure_ || (!is_urgent_ && sending_ == 0);
}

void UcxWire::end(const UcxFlight& flight, const Status& status) {
  --(flight.is_incoming ? fetching_ : sending_);
  if (!status) return lose(status);
  if (!flight.is_incoming) {
    if (flight.header.kind == FrameKind::value) count_part_gone(flight.header);
    return;
  }
  ++messages_received_;
  Remote& remote = *ports_[flight.header.port];
  const auto lock = remote.lock();
  if (const Status ended = remote.end_part(flight.header); !ended && failure_) failure_ = ended;
}

void UcxWire::lose(const Status& why) {
  if (ending_) ending_ = why;
}

void UcxWire::take(const UcxMessage& message) {
  if (!failure_) return;
  const auto kind = message.head.size() < kUcxKindBytes ? UcxKind() : word_of<UcxKind>(message.head);
  Status status = nonsense(fmt::format("a message over UCX of kind {}, which nobody sends", static_cast<int>(kind)));
  if (kind == UcxKind::frames && !message.is_announced) {
    ++messages_received_;
    status = take_frames({static_cast<const std::byte*>(message.data), message.bytes});
  } else if (kind == UcxKind::value || kind == UcxKind::value_after_sizes) {
    status = take_value(message);
  }
  if (!status && failure_) failure_ = status;
}

Status UcxWire::take_frames(std::span<const std::byte> frames) {
  unread_ = frames;
  while (!unread_.empty()) TUTTI_TRY(incoming_.progress());
  return {};
}

Status UcxWire::take_value(const UcxMessage& message) {
  const bool has_sizes_in_data = word_of<UcxKind>(message.head) == UcxKind::value_after_sizes;
  const auto body = message.head.subspan(kUcxKindBytes);
  if (body.size() < kFrameHeaderBytes) return nonsense("a value over UCX without its header");
  const auto header = word_of<FrameHeader>(body);
  const std::span sizes = body.subspan(kFrameHeaderBytes);
  const std::size_t sizes_bytes = header.chunks * sizeof(ChunkBytes);
  const std::uint64_t expected = header.part_bytes + (has_sizes_in_data ? sizes_bytes : 0);
  if (header.kind != FrameKind::value || header.port >= kPorts ||
      sizes.size() != (has_sizes_in_data ? 0 : sizes_bytes) || message.bytes != expected) {
    return nonsense(fmt::format("a value over UCX that has {} bytes and says {}", message.bytes, expected));
  }
  Remote& remote = *ports_[header.port];
  {
    const auto lock = remote.lock();
    TUTTI_TRY(remote.validate(header));
    TUTTI_ASSIGN(const bool is_new, remote.begin_part(header));
    if (!is_new) {
      ++messages_received_;
      return {};
    }
    if (!sizes.empty()) std::memcpy(remote.sizes_of(header).data(), sizes.data(), sizes.size());
  }
  fetch_value(header, message, has_sizes_in_data);
  return {};
}

// Its place stays what it is until close(), even where the caller gives up meanwhile.
void UcxWire::fetch_value(const FrameHeader& header, const UcxMessage& message, bool has_sizes_in_data) {
  Remote& remote = *ports_[header.port];
  UcxFlight& flight = worker_->create_flight(*this);
  flight.header = header;
  flight.touches_caller = true;
  {
    const auto lock = remote.lock();
    if (has_sizes_in_data) {
      const auto sizes = remote.sizes_of(header);
      flight.pieces.push_back({sizes.data(), sizes.size()});
    }
    for (std::uint64_t done = 0; done < header.part_bytes;) {
      const Stretch place = remote.place_of(header, done);
      TUTTI_ASSERT(place.bytes > 0, "a part that was begun has a place");
      add_piece(flight.pieces, place);
      done += place.bytes;
    }
  }
  ++fetching_;
  worker_->receive(flight, message);
}

}  // namespace tutti::transport
