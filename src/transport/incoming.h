// Reads frames from one connection and puts what they carry where it belongs, large data without a copy in between.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "transport/remote.h"
#include "transport/wire.h"

namespace tutti::transport {

class Incoming {
 public:
  // Reads into the pieces; 0: nothing is there yet.
  using Read = std::function<Result<std::size_t>(std::span<const iovec>)>;
  // The other side asks for what was lost with a connection.
  using Repeat = std::function<void(const FrameHeader&)>;

  Incoming(const std::array<Remote*, kPorts>& ports, Read read, Repeat repeat = {});

  // Takes what is there, or a good part of it. A failure is for good: what comes makes no sense, or nothing comes any
  // more.
  Status progress();

 private:
  enum class Phase { header, sizes, data, skip };
  static constexpr std::size_t kBufferBytes = 16 << 10;
  static constexpr std::size_t kWordsBytes = 512;
  static constexpr std::size_t kLargeBytes = 8 << 10;
  static constexpr std::size_t kBytesPerTurn = 4 << 20;

  Result<std::size_t> read_once();
  Status parse();
  Status begin_frame();
  Status begin_value();
  Status end_sizes();
  Status begin_data();
  Status end_value();
  void begin_header() {
    phase_ = Phase::header;
    done_ = 0;
  }
  std::uint64_t skipped_bytes() const { return header_.chunks * sizeof(ChunkBytes) + header_.part_bytes; }
  std::size_t buffered() const { return end_ - begin_; }
  std::size_t take(std::byte* target, std::size_t bytes);
  Remote& remote() { return *ports_[header_.port]; }

  std::array<Remote*, kPorts> ports_;
  Read read_;
  Repeat repeat_;
  Phase phase_ = Phase::header;
  FrameHeader header_;
  Announcement announcement_;
  std::uint64_t done_ = 0;  // bytes of the phase
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kBufferBytes);
  std::size_t space_ = 0;  // that the last read could have filled
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace tutti::transport
