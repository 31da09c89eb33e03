// A wire between two ranks that comes to life by authenticated connections, one or several.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "rpc/conduit.h"
#include "transport/wire.h"

namespace tutti::transport {

class ConduitWire : public Wire {
 public:
  using Warn = std::function<void(const std::string&)>;

  // At any time; what is sent before the first one waits. Does not block.
  virtual void add(rpc::Conduit conduit, std::size_t rail, std::string name) = 0;
  // No connection will come.
  virtual void fail(const Status& why) = 0;
  // Connections over which what was sent has been without an answer for so long are lost.
  virtual void drop_unanswered(std::chrono::milliseconds silence) = 0;
  // Whether something that was sent over a connection may not have come to the other machine yet.
  virtual bool has_unacknowledged() const = 0;
  // That it takes, beside what connections keep.
  virtual std::size_t bytes() const = 0;
};

}  // namespace tutti::transport
