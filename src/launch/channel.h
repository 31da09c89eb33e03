// A stream of messages between the launcher and an agent, over pipes, a socket or ssh, on the thread of a loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "os/event_loop.h"
#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::launch {

// Bytes both ways that never block.
class Duct {
 public:
  virtual ~Duct() = default;
  // As much as goes now, 0 when nothing does. The end of the stream is peer_lost.
  virtual Result<std::size_t> read(std::span<std::byte> space) = 0;
  virtual Result<std::size_t> write(std::span<const std::byte> bytes) = 0;
  virtual bool wants_write() const { return false; }  // even when there is nothing new, as encryption does
  virtual Status flush() { return {}; }               // what it wants to write, as far as it goes
  virtual int read_fd() const = 0;
  virtual int write_fd() const = 0;  // may be the same
  virtual void close_write() = 0;    // after what was written
};

// The descriptors become non-blocking. Who uses pipes ignores SIGPIPE.
std::unique_ptr<Duct> create_pipe_duct(os::FileDescriptor input, os::FileDescriptor output);
std::unique_ptr<Duct> create_socket_duct(os::FileDescriptor socket);

// Whoever greets writes kGreeting first: what a login shell prints before it is skipped and kept for messages.
inline constexpr std::string_view kGreeting = "\ntutti-agent-1\n";

enum class Greets : std::uint8_t { no, writes, expects };

// A message that makes no sense, or that is too long, ends the channel.
class Channel {
 public:
  // Called from the loop only, and the channel may not be destroyed during its own calls: hand that to call_later().
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void take(Channel& channel, std::span<const std::byte> envelope) = 0;  // behind its length
    virtual void end(Channel& channel, const Status& why) = 0;                     // once; nothing comes after it
    virtual void drained(Channel&) {}  // queued_bytes() has fallen below kQueueLow after it was above kQueueHigh
  };
  static constexpr std::size_t kQueueHigh = std::size_t{4} << 20;
  static constexpr std::size_t kQueueLow = std::size_t{1} << 20;
  static constexpr std::size_t kNoiseMax = std::size_t{64} << 10;  // before the greeting; more is no agent

  Channel(os::EventLoop& loop, std::unique_ptr<Duct> duct, Greets greets, Owner& owner);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  void start();
  void send(Bytes encoded);           // as encode() makes it; written from the loop
  void set_reading(bool is_reading);  // off: what comes stays in the kernel
  void finish();                      // ends the outgoing stream once all is written
  std::size_t queued_bytes() const { return queued_bytes_; }
  bool is_full() const { return queued_bytes_ > kQueueHigh; }
  const std::string& noise() const { return noise_; }  // what came before the greeting
  bool has_greeted() const { return has_greeted_; }

 private:
  void advance();
  Status read();
  Status write();
  Status take_greeting(std::span<const std::byte>& bytes);
  Status take_messages(std::span<const std::byte> bytes);
  void update_interest();
  void advance_soon();
  void set_interest(os::EventLoop::Watch& watch, int fd, std::uint32_t events);
  void fail(const Status& why);

  os::EventLoop& loop_;
  std::unique_ptr<Duct> duct_;
  Owner& owner_;
  bool has_greeted_;
  std::string noise_;
  Bytes incoming_;  // the beginning of a message that has not come whole
  std::deque<Bytes> outgoing_;
  std::size_t front_written_ = 0;
  std::size_t queued_bytes_ = 0;
  bool was_full_ = false;
  bool has_started_ = false;
  bool is_reading_ = true;
  bool is_finishing_ = false;
  bool has_finished_ = false;
  bool has_ended_ = false;
  bool will_advance_ = false;
  std::shared_ptr<int> life_ = std::make_shared<int>();  // for calls that come later
  os::EventLoop::Watch read_watch_ = {};                 // of both ways where they have one descriptor
  os::EventLoop::Watch write_watch_ = {};
};

}  // namespace tutti::launch
