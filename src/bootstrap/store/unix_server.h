// The server of a socket store: one thread that owns all keys, all connections and everybody who waits.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/deadline.h"
#include "os/file_descriptor.h"
#include "os/thread.h"
#include "os/unix_socket.h"
#include "tutti/status.h"

namespace tutti::bootstrap {

class UnixServer {
 public:
  // Those who are connected may finish what they do with the store before the server ends: rank 0 is often the first
  // to know all it needs. This is the longest that the end waits for them.
  static constexpr std::chrono::nanoseconds kLinger = std::chrono::seconds(2);

  // Listens at the path, with mode 0600, for processes of the same user. The deadline is that of the listener.
  static Result<std::unique_ptr<UnixServer>> start(const std::string& path, Deadline deadline,
                                                   std::chrono::nanoseconds linger = kLinger);
  ~UnixServer();

  void remove_path() noexcept;  // who is connected stays so; nobody new comes

 private:
  friend class ServerLoop;
  UnixServer(os::UnixListener listener, os::FileDescriptor wake, std::chrono::nanoseconds linger)
      : listener_(std::move(listener)), wake_(std::move(wake)), linger_(linger) {}
  void wake() noexcept;

  os::UnixListener listener_;  // the thread's, as long as there is one
  os::FileDescriptor wake_;
  std::chrono::nanoseconds linger_;
  std::atomic<bool> has_no_path_ = false;
  std::atomic<bool> is_ending_ = false;
  os::Thread thread_;
};

}  // namespace tutti::bootstrap
