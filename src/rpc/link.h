// One established control connection: frames come out whole, frames go in and are written as the socket takes them.
#pragma once

#include <array>
#include <cstddef>
#include <deque>

#include "base/world.h"
#include "os/event_loop.h"
#include "rpc/frame.h"
#include "rpc/greeting.h"
#include "tutti/status.h"

namespace tutti::rpc {

// Two sides that expect nothing more of each other say goodbye. Who has said and heard it ends its stream with a
// farewell; the other side writes what it still has and ends its own: nothing is lost. An end without a farewell is a
// loss.
class Link {
 public:
  // Called from the loop only. A link is not destroyed during its own calls.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void take_frame(Link& link, Frame frame) = 0;
    virtual void end_link(Link& link, const Status& why) = 0;  // once; nothing comes after it
  };

  Link(os::EventLoop& loop, Greeted greeted, Owner& owner);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() { close(); }

  Status start();
  void send(const FrameHeader& header, Bytes body);  // written from the loop
  void finish_writing();                             // after what was sent; nothing more can be sent
  void close();                                      // at once, and without a call of end_link
  void set_reading(bool is_reading);                 // off: what comes stays in the kernel

  ActorId peer() const { return peer_; }
  std::string peer_text() const { return conduit_.peer_text(); }
  const os::TcpAddress& peer_address() const { return conduit_.socket().peer_address(); }
  std::size_t queued_bytes() const { return queued_bytes_; }
  bool has_said_goodbye() const { return has_said_goodbye_; }  // and has sent nothing since
  bool has_heard_goodbye() const { return has_heard_goodbye_; }
  bool has_heard_farewell() const { return has_heard_farewell_; }
  bool is_finishing() const { return is_finishing_ || is_at_end_; }  // nothing may be sent any more

 private:
  struct Outgoing {
    std::array<std::byte, kFrameHeaderBytes> header;
    Bytes body;
  };

  void advance();
  Status read();
  Status take(std::span<const std::byte> bytes);
  Status write();
  void forget_written(std::size_t count);
  bool is_written() const { return outgoing_.empty() && !conduit_.wants_write(); }
  void update_interest();
  void end(const Status& why);

  os::EventLoop& loop_;
  Owner& owner_;
  ActorId peer_;
  Conduit conduit_;
  os::EventLoop::Watch watch_ = {};
  std::uint32_t interest_ = 0;
  FrameReader reader_;
  std::deque<Outgoing> outgoing_;
  std::size_t front_written_ = 0;  // bytes of the frame at the front
  std::size_t queued_bytes_ = 0;
  bool has_said_goodbye_ = false;
  bool has_heard_goodbye_ = false;
  bool has_heard_farewell_ = false;
  bool is_reading_ = true;
  bool is_finishing_ = false;   // this side ends its stream once all is written
  bool has_shut_down_ = false;  // and has done so
  bool is_at_end_ = false;      // the other side has ended its stream in good order
  bool has_ended_ = false;
  os::EventLoop::Timer linger_ = {};
};

}  // namespace tutti::rpc
