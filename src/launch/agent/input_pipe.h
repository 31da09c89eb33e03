// The standard input of a rank: what the launcher sends is kept until the rank reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "base/bytes.h"
#include "os/event_loop.h"
#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::launch {

// On the thread of the loop. Never blocks. `took` hears of every byte once: when it is with the rank, or with nobody.
class InputPipe {
 public:
  using Took = std::function<void(std::uint32_t bytes)>;

  static Result<std::unique_ptr<InputPipe>> create(os::EventLoop& loop, Took took);
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;
  ~InputPipe();

  int read_end() const { return reader_.get(); }  // for the rank
  void start() { reader_.close(); }               // once the rank has it
  void give(Bytes bytes);
  void end();  // nothing comes after what was given

 private:
  InputPipe(os::EventLoop& loop, os::FileDescriptor reader, os::FileDescriptor writer, Took took)
      : loop_(loop), reader_(std::move(reader)), writer_(std::move(writer)), took_(std::move(took)) {}
  void advance();
  void drop();

  os::EventLoop& loop_;
  os::FileDescriptor reader_;
  os::FileDescriptor writer_;  // closed: the rank reads no more, or all was written
  Took took_;
  std::deque<Bytes> queue_;
  std::size_t front_written_ = 0;
  std::size_t queued_bytes_ = 0;
  bool is_ending_ = false;
  os::EventLoop::Watch watch_ = {};
};

}  // namespace tutti::launch
