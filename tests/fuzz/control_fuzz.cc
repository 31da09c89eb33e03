// Whatever comes over the control socket of a job, in either direction: reading neither crashes nor hangs, and what was
// read is written so that it reads the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "launch/control/answer.h"
#include "launch/control/request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::launch::control;
  constexpr tutti::Time kNow{2'000'000'000'000'000'000};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = parse_request(text)) {
    const auto again = parse_request(line_of(*request));
    if (!again || *again != *request) std::abort();
  }
  if (const auto answer = parse_answer(text, kNow)) {
    const std::string line = line_of(*answer, kNow);
    const auto again = parse_answer(line, kNow);
    if (!again || line_of(*again, kNow) != line) std::abort();
  }
  return 0;
}
