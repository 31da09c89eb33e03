// A store that somebody else keeps: calls become requests, and replies become what the calls return.
#pragma once

#include <memory>

#include "bootstrap/store.h"
#include "bootstrap/store/request.h"

namespace tutti::bootstrap {

// The way to whoever keeps the store. From any thread, several at once.
class Asker {
 public:
  virtual ~Asker() = default;
  // Blocks until the reply is there. The deadline is that of a wait, whose reply is `absent` when it has passed; other
  // requests have none.
  virtual Result<Reply> ask(const Request& request, Deadline deadline) = 0;
  virtual void remove() noexcept = 0;  // as Store::remove
};

std::unique_ptr<Store> create_remote_store(std::unique_ptr<Asker> asker);

}  // namespace tutti::bootstrap
