// Any bytes as a stream of frames, cut anywhere: the same frames come out, and memory follows what has come.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "rpc/frame.h"

namespace {

using namespace tutti::rpc;

// The frames as bytes again, up to the first failure.
tutti::Bytes read_all(std::span<const std::byte> bytes, std::size_t piece) {
  FrameReader reader;
  tutti::Bytes frames;
  while (!bytes.empty()) {
    auto part = bytes.first(std::min(bytes.size(), piece));
    bytes = bytes.subspan(part.size());
    while (!part.empty()) {
      auto frame = reader.take(part);
      if (!frame) return frames;
      if (!*frame) continue;
      if ((*frame)->body.size() != (*frame)->header.body_bytes) std::abort();
      tutti::append(frames, pack((*frame)->header));
      tutti::append(frames, (*frame)->body);
    }
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const tutti::Bytes whole = read_all(bytes, bytes.size() + 1);
  if (!std::ranges::equal(whole, bytes.first(whole.size()))) std::abort();
  if (read_all(bytes, 1 + data[0]) != whole) std::abort();
  FrameReader reader;
  auto rest = bytes;
  while (!rest.empty() && reader.take(rest)) {
    if (reader.held_bytes() > 2 * bytes.size() + 64) std::abort();
  }
  return 0;
}
