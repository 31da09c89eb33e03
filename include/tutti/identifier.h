// What the ranks of a job need to find each other over a network: where they meet, and the secret that lets them in.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tutti/status.h"

namespace tutti {

// 128 bytes that one process makes and hands to the others by any means that strangers cannot read: they hold the job's
// secret. Use each for one communicator.
class Identifier {
 public:
  static constexpr std::size_t kBytes = 128;

  // Opens a meeting point in this process: it is there until the ranks have met and gone their ways, or the process
  // ends. Which networks it can be reached over is chosen as TUTTI_SOCKET_IFNAME says.
  static Result<Identifier> create();
  // The same on every process that calls it, without a word between them: rank 0 opens the meeting point there when it
  // starts. "10.0.0.1:4000", "[fd00::1]:4000" or "name:4000", an address of rank 0's host and a port that is free
  // there. What lets ranks in comes from TUTTI_JOB_SECRET; without it anybody who knows the address could join, and the
  // log has a warning. May be used again once the ranks have met.
  static Result<Identifier> of_address(std::string_view address);

  static Result<Identifier> of(std::span<const std::byte> bytes);
  // The same as text, for a file or an environment variable; never for a command line, which everybody can read.
  static Result<Identifier> parse(std::string_view text);
  std::string text() const;
  std::span<const std::byte, kBytes> bytes() const { return bytes_; }

  bool operator==(const Identifier&) const = default;

 private:
  Identifier() = default;
  std::array<std::byte, kBytes> bytes_{};
};

}  // namespace tutti
