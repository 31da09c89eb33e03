// Any bytes as the file of a store: the parser answers, never goes past the end, and what it accepts is what is
// written.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "bootstrap/store/record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::bootstrap;
  auto rest = std::as_bytes(std::span(data, size));
  if (!check_file_header(rest)) return 0;
  rest = rest.subspan(kFileHeaderBytes);
  while (true) {
    const auto record = parse_record(rest);
    if (!record || !record->has_value()) return 0;
    const Record& found = **record;
    if (found.bytes < kRecordHeaderBytes || found.bytes > rest.size() || found.bytes > kRecordBytesMax) std::abort();
    const tutti::Bytes again = record_of(found.key, found.value);
    if (!std::ranges::equal(again, rest.first(found.bytes))) std::abort();
    rest = rest.subspan(found.bytes);
  }
}
