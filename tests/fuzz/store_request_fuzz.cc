// Any bytes as what a client or a server sends: the parsers answer, and what they accept is what is written.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "bootstrap/store/call.h"
#include "bootstrap/store/request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::bootstrap;
  auto rest = std::as_bytes(std::span(data, size));
  if (const auto call = parse_call(rest); call && !std::ranges::equal(message_of(*call), rest)) std::abort();
  if (const auto answer = parse_answer(rest); answer && !std::ranges::equal(message_of(*answer), rest)) std::abort();
  while (true) {
    const auto body = parse_frame(rest);
    if (!body || !body->has_value()) return 0;
    const auto frame = rest.first(kFrameHeaderBytes + (*body)->size());
    if (const auto request = parse_request(**body); request && !std::ranges::equal(frame_of(*request), frame))
      std::abort();
    if (const auto reply = parse_reply(**body); reply && !std::ranges::equal(frame_of(*reply), frame)) std::abort();
    rest = rest.subspan(frame.size());
  }
}
