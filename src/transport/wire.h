// Carries what a rank writes for a member on another host there, and what that one writes here.
#pragma once

#include <poll.h>

#include <cstdint>
#include <span>
#include <vector>

#include "transport/remote.h"
#include "tutti/status.h"

namespace tutti::transport {

// The channels between two ranks of a communicator: everybody's, and one for messages in each direction.
enum class Port : std::uint8_t { collective, from_lower, from_higher };
inline constexpr std::size_t kPorts = 3;

// A value on its way: the sizes of its chunks, and its data in as many pieces as it lies in. All of it stays where it
// is until the wire counts the value as gone.
struct Parcel {
  Port port = Port::collective;
  std::uint32_t lane = 0;
  std::uint32_t number = 0;   // of the message
  std::uint32_t ordinal = 0;  // of the value
  std::span<const ChunkBytes> sizes;
  std::span<const Stretch> data;
};

// Between two ranks. Used by several threads.
class Wire {
 public:
  virtual ~Wire() = default;

  // Goes with the next message, or at once.
  virtual void send_entry(Port port, const Announcement& announcement, bool is_urgent) = 0;
  virtual void send_token(Port port, std::uint32_t lane, std::uint32_t number) = 0;
  virtual void send_value(const Parcel& parcel) = 0;
  // Goes with the next message; at once where the other side may be waiting for it.
  virtual void send_taken(Port port, std::uint32_t lane, std::uint32_t count, bool is_urgent) = 0;

  // Whether a value of that size stays where it is until the other side has taken it, so that it has to say so at once.
  virtual bool keeps(std::uint64_t value_bytes) const = 0;
  // Values of a lane whose memory is free for others.
  virtual std::uint32_t values_gone(Port port, std::uint32_t lane) const = 0;
  // Nothing is left that has to go before a call may end.
  virtual bool is_flushed() const = 0;

  // Whether there was ever a connection.
  virtual bool is_connected() const = 0;

  // Moves what can be moved, both ways; never blocks. A failure is for good.
  virtual Status progress() = 0;
  // What to wait for.
  virtual void add_to(std::vector<pollfd>& polled) const = 0;
  // Ends it: no memory of the caller is read or written once this has returned.
  virtual void close() noexcept = 0;
};

}  // namespace tutti::transport
