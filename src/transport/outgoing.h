// What is still to go over one connection, in order: small things are kept here, large ones stay where they lie.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/wire.h"

namespace tutti::transport {

// Data of up to this size is copied rather than referred to: writing a small piece apart costs more than copying it.
inline constexpr std::size_t kCopiedBytesMax = 1024;

class Outgoing {
 public:
  // With `ends_value` the value of that port and lane has gone when the frame has.
  void add(const FrameHeader& header, std::span<const std::byte> head, std::span<const Stretch> data, bool ends_value);

  bool is_empty() const { return first_ == pieces_.size(); }
  // The next bytes to write, in at most as many pieces; how many there are.
  std::size_t gather(std::span<iovec> pieces) const;
  // So many of them were written. Calls `gone(port, lane)` for every value that ended.
  template <class Gone>
  void advance(std::size_t bytes, const Gone& gone);
  void clear();

 private:
  struct Piece {
    const std::byte* data = nullptr;  // nullptr: kept, from `at` on
    std::size_t at = 0;
    std::size_t bytes = 0;
    bool ends_value = false;
    std::uint8_t port = 0;
    std::uint8_t lane = 0;
  };

  void keep(std::span<const std::byte> bytes);
  const std::byte* data_of(const Piece& piece) const { return piece.data != nullptr ? piece.data : &kept_[piece.at]; }

  std::vector<Piece> pieces_;
  std::size_t first_ = 0;
  std::vector<std::byte> kept_;
};

template <class Gone>
void Outgoing::advance(std::size_t bytes, const Gone& gone) {
  while (first_ < pieces_.size()) {
    Piece& piece = pieces_[first_];
    if (bytes < piece.bytes) {
      if (piece.data != nullptr) piece.data += bytes;
      piece.at += bytes;
      piece.bytes -= bytes;
      return;
    }
    bytes -= piece.bytes;
    if (piece.ends_value) gone(piece.port, piece.lane);
    ++first_;
  }
  clear();
}

}  // namespace tutti::transport
