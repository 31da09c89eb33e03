// Where ranks that do not know each other yet leave messages: keys and values that everybody reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/deadline.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::bootstrap {

// Ranks exchange addresses and descriptions, not data; whoever needs more has mistaken a store for a transport.
inline constexpr std::size_t kKeyBytesMax = 256;
inline constexpr std::size_t kValueBytesMax = std::size_t{1} << 20;

// Every method may be called from any thread, and each takes effect at one moment for all who use the store. A key has
// 1 to kKeyBytesMax bytes, a value 0 to kValueBytesMax. Nothing is ever deleted.
class Store {
 public:
  virtual ~Store() = default;

  virtual Status set(std::string_view key, std::span<const std::byte> value) = 0;  // replaces what was there
  // Returns once the key is there; timed_out names the key.
  virtual Result<Bytes> wait(std::string_view key, Deadline deadline) = 0;
  virtual Result<std::optional<Bytes>> get(std::string_view key) = 0;  // nullopt: not there
  // Adds to a counter, which starts at 0, and returns the sum. Its value is 8 bytes, little-endian.
  virtual Result<std::int64_t> add(std::string_view key, std::int64_t delta) = 0;
  // Sets the key to `desired` if its value is `expected`; an absent key matches an empty one. Returns the value
  // afterwards.
  virtual Result<Bytes> compare_and_swap(std::string_view key, std::span<const std::byte> expected,
                                         std::span<const std::byte> desired) = 0;
  // Nobody will come any more: takes what newcomers would find out of the file system. Those who are here can go on.
  virtual void remove() noexcept = 0;
};

enum class StoreKind : std::uint8_t { file, unix_socket, tcp };

struct StoreAddress {
  StoreKind kind;
  std::string path;  // of tcp: the text of an identifier, which is secret
};

// "file:/path", "unix:/path" and "tcp:tutti1-...", which is the identifier of a meeting point.
Result<StoreAddress> parse_address(std::string_view address);

// Rank 0 serves a socket, the others wait until it does. A file is made by whoever comes first. A meeting point is
// served by whoever made its identifier, a rank or a launcher.
Result<std::unique_ptr<Store>> open_store(std::string_view address, Rank rank, Deadline deadline);

}  // namespace tutti::bootstrap
