#include "transport/outgoing.h"

#include <algorithm>

namespace tutti::transport {

void Outgoing::keep(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const bool can_join = !pieces_.empty() && first_ < pieces_.size() && pieces_.back().data == nullptr &&
                        !pieces_.back().ends_value && pieces_.back().at + pieces_.back().bytes == kept_.size();
  if (!can_join) pieces_.push_back({.at = kept_.size()});
  kept_.insert(kept_.end(), bytes.begin(), bytes.end());
  pieces_.back().bytes += bytes.size();
}

void Outgoing::add(const FrameHeader& header, std::span<const std::byte> head, std::span<const Stretch> data,
                   bool ends_value) {
  keep(std::as_bytes(std::span(&header, 1)));
  keep(head);
  for (const Stretch& stretch : data) {
    if (stretch.bytes == 0) continue;
    if (stretch.bytes <= kCopiedBytesMax) {
      keep({stretch.data, stretch.bytes});
    } else {
      pieces_.push_back({.data = stretch.data, .bytes = stretch.bytes});
    }
  }
  if (!ends_value) return;
  pieces_.back().ends_value = true;
  pieces_.back().port = header.port;
  pieces_.back().lane = header.lane;
}

std::size_t Outgoing::gather(std::span<iovec> pieces) const {
  const std::size_t count = std::min(pieces.size(), pieces_.size() - first_);
  for (std::size_t i = 0; i < count; ++i) {
    const Piece& piece = pieces_[first_ + i];
    pieces[i] = {const_cast<std::byte*>(data_of(piece)), piece.bytes};
  }
  return count;
}

void Outgoing::clear() {
  pieces_.clear();
  kept_.clear();
  first_ = 0;
}

}  // namespace tutti::transport
