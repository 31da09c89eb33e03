// One stream of a rank: reads its pipe and passes whole lines on.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/bytes.h"
#include "os/event_loop.h"
#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::launch {

// On the thread of the loop. A line that is longer than kOutputBytesMax comes in pieces, and so does the rest at the
// end.
class OutputPipe {
 public:
  using Take = std::function<void(Bytes)>;
  using End = std::function<void()>;  // nobody can write any more, and all was taken

  static Result<std::unique_ptr<OutputPipe>> create(os::EventLoop& loop, Take take, End end);
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  ~OutputPipe();

  int write_end() const { return writer_.get(); }  // for the rank
  Status start();                                  // once the rank has it: closes it here
  void set_reading(bool is_reading);               // off: what comes stays in the pipe, and the rank waits
  bool has_ended() const { return !reader_.is_open(); }
  void cut();  // takes what is in the pipe now as the end

 private:
  OutputPipe(os::EventLoop& loop, os::FileDescriptor reader, os::FileDescriptor writer, Take take, End end);
  Status watch();
  bool read_once();  // false: nothing is there now, or it has ended
  void pass(std::size_t count);
  void finish();

  os::EventLoop& loop_;
  os::FileDescriptor reader_;
  os::FileDescriptor writer_;
  Take take_;
  End end_;
  std::unique_ptr<std::byte[]> space_;  // not before the first byte: most streams of most ranks stay silent
  std::size_t space_bytes_ = 0;
  std::size_t filled_ = 0;  // the beginning of a line
  bool is_reading_ = true;
  os::EventLoop::Watch watch_ = {};
};

}  // namespace tutti::launch
