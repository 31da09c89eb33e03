#include "bootstrap/store/record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"

namespace tutti::bootstrap {
namespace {

// FNV-1a: finds what a broken disk or a stray writer does to a few bytes; nobody has to be kept from forging it.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) state_ = (state_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

constexpr std::size_t kSizesBytes = 8;

std::uint32_t check_of_sizes(std::span<const std::byte> sizes) {
  Checksum checksum;
  checksum.add(sizes);
  return static_cast<std::uint32_t>(checksum.value() ^ (checksum.value() >> 32));
}

std::uint64_t check_of_record(std::span<const std::byte> sizes, std::span<const std::byte> key,
                              std::span<const std::byte> value) {
  Checksum checksum;
  checksum.add(sizes);
  checksum.add(key);
  checksum.add(value);
  return checksum.value();
}

}  // namespace

Bytes file_header() {
  Bytes header;
  append(header, bytes_of(kFileMagic));
  append_number(header, kFileVersion);
  append_number(header, std::uint32_t{0});
  return header;
}

Status check_file_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kFileHeaderBytes || text_of(bytes.first(kFileMagic.size())) != kFileMagic)
    return invalid_argument("the file was not written by a store; give a path where no file is yet");
  ByteReader reader(bytes.subspan(kFileMagic.size()));
  const auto version = reader.number<std::uint32_t>();
  if (*version != kFileVersion)
    return invalid_argument(
        fmt::format("the file is of version {} of the format, this program writes version {}; run "
                    "all ranks with the same version of Tutti, or remove the file",
                    *version, kFileVersion));
  if (*reader.number<std::uint32_t>() != 0) return invalid_argument("the header of the file is damaged; remove it");
  return {};
}

Bytes record_of(std::string_view key, std::span<const std::byte> value) {
  TUTTI_ASSERT(!key.empty() && key.size() <= kKeyBytesMax && value.size() <= kValueBytesMax, "checked by the store");
  Bytes record;
  record.reserve(kRecordHeaderBytes + key.size() + value.size());
  append_number(record, static_cast<std::uint32_t>(key.size()));
  append_number(record, static_cast<std::uint32_t>(value.size()));
  const std::uint32_t sizes_check = check_of_sizes(record);
  const std::uint64_t check = check_of_record(record, bytes_of(key), value);
  append_number(record, sizes_check);
  append_number(record, check);
  append(record, bytes_of(key));
  append(record, value);
  return record;
}

Result<std::optional<Record>> parse_record(std::span<const std::byte> bytes) {
  const std::optional<Record> incomplete;
  if (bytes.size() < kRecordHeaderBytes) return incomplete;
  const auto sizes = bytes.first(kSizesBytes);
  ByteReader reader(bytes);
  const auto key_bytes = *reader.number<std::uint32_t>();
  const auto value_bytes = *reader.number<std::uint32_t>();
  const auto sizes_check = *reader.number<std::uint32_t>();
  const auto check = *reader.number<std::uint64_t>();
  if (sizes_check != check_of_sizes(sizes)) return invalid_argument("the sizes of a record do not match their check");
  if (key_bytes == 0 || key_bytes > kKeyBytesMax || value_bytes > kValueBytesMax)
    return invalid_argument(
        fmt::format("a record has a key of {} and a value of {} bytes, outside of the limits", key_bytes, value_bytes));
  const auto key = reader.take(key_bytes);
  const auto value = reader.take(value_bytes);
  if (!key || !value) return incomplete;
  if (check != check_of_record(sizes, *key, *value))
    return invalid_argument("the contents of a record do not match their check");
  return std::optional(Record{text_of(*key), *value, kRecordHeaderBytes + key_bytes + value_bytes});
}

}  // namespace tutti::bootstrap
