// What the 128 bytes of an identifier say.
#pragma once

#include "base/world.h"
#include "rpc/secret.h"
#include "tutti/identifier.h"

namespace tutti::bootstrap {

struct MeetingAddress {
  Contact contact;
  rpc::Secret secret;
  bool is_encrypted = false;  // as the one who made the identifier wishes, so that all do
  bool is_fixed = false;      // nobody listens there yet: rank 0 opens the meeting point when it starts
};

// At most four addresses fit; those that are no numbers (host names) do not.
Result<Identifier> make_identifier(const MeetingAddress& address);
Result<MeetingAddress> read_identifier(const Identifier& identifier);

}  // namespace tutti::bootstrap
