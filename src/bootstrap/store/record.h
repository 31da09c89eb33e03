// The bytes of a file store: a header, then one record per change. Pure: no file is touched here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bootstrap/store.h"

namespace tutti::bootstrap {

inline constexpr std::string_view kFileMagic = "tuttisto";
inline constexpr std::uint32_t kFileVersion = 1;
inline constexpr std::size_t kFileHeaderBytes = 16;  // the magic, the version, four bytes of zero

// Sizes of key and value, a check of these two, a check of everything; then key and value. The sizes have a check of
// their own because a wrong size would make whole records look like the tail of one that was never finished.
inline constexpr std::size_t kRecordHeaderBytes = 20;
inline constexpr std::size_t kRecordBytesMax = kRecordHeaderBytes + kKeyBytesMax + kValueBytesMax;

Bytes file_header();
// Success for a header of this version; otherwise what the file is instead.
Status check_file_header(std::span<const std::byte> bytes);

// Points into the bytes that were parsed.
struct Record {
  std::string_view key;
  std::span<const std::byte> value;
  std::size_t bytes;  // of the whole record
};

Bytes record_of(std::string_view key, std::span<const std::byte> value);
// The record at the front; nullopt when the bytes end before it does. Bytes that no writer leaves are a failure.
Result<std::optional<Record>> parse_record(std::span<const std::byte> bytes);

}  // namespace tutti::bootstrap
