// What a courier has seen of the world outside, for logs and tests.
#pragma once

#include <cstdint>

#include "rpc/handshake.h"

namespace tutti::rpc {

struct Counters {
  std::uint64_t accepted = 0;       // connections, of whomever
  std::uint64_t authenticated = 0;  // of them
  // Of the rest, why they were dropped.
  std::uint64_t strangers = 0;           // went away before they had proved anything: port scanners
  std::uint64_t garbage = 0;             // said what nobody says
  std::uint64_t bad_version = 0;         // of the protocol
  std::uint64_t wrong_secret = 0;        // processes of other jobs, and liars
  std::uint64_t encryption_differs = 0;  // of the two sides
  std::uint64_t replays = 0;             // used a greeting that was used before
  std::uint64_t timeouts = 0;            // did not finish in time
  std::uint64_t crowded_out = 0;         // the oldest, when there were too many at once
  // Of those who are authenticated.
  std::uint64_t unknown_services = 0;  // messages for a service that nobody has attached
  std::uint64_t unwanted_data = 0;     // data connections that nobody waits for
  std::uint64_t stale_messages = 0;    // came over a connection that their sender had given up
  std::uint64_t full_queues = 0;       // peers that were given up because they did not take what was sent

  void count(Fault fault) {
    switch (fault) {
      case Fault::none:
      case Fault::closed: ++strangers; break;
      case Fault::garbage: ++garbage; break;
      case Fault::bad_version: ++bad_version; break;
      case Fault::wrong_secret: ++wrong_secret; break;
      case Fault::encryption_differs: ++encryption_differs; break;
      case Fault::replay: ++replays; break;
      case Fault::late: ++timeouts; break;
    }
  }
};

}  // namespace tutti::rpc
