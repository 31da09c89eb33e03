#include "launch/agent/input_pipe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "launch/message.h"
#include "os/error_text.h"

namespace tutti::launch {

Result<std::unique_ptr<InputPipe>> InputPipe::create(os::EventLoop& loop, Took took) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Status(Code::out_of_memory,
                  fmt::format("cannot create a pipe for input: {}; look at 'ulimit -n'", os::error_text(errno)));
  os::FileDescriptor reader(ends[0]), writer(ends[1]);
  ::fcntl(writer.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<InputPipe>(new InputPipe(loop, std::move(reader), std::move(writer), std::move(took)));
}

InputPipe::~InputPipe() { loop_.unwatch(watch_); }

void InputPipe::give(Bytes bytes) {
  const std::size_t count = bytes.size();
  if (count == 0) return;
  // A launcher keeps to kInputBytesMax; what comes beyond twice that is not kept.
  if (!writer_.is_open() || is_ending_ || queued_bytes_ + count > 2 * kInputBytesMax)
    return took_(static_cast<std::uint32_t>(count));
  queued_bytes_ += count;
  queue_.push_back(std::move(bytes));
  advance();
}

void InputPipe::end() {
  is_ending_ = true;
  advance();
}

void InputPipe::advance() {
  std::uint32_t written = 0;
  bool is_lost = false;
  while (!queue_.empty() && writer_.is_open()) {
    const Bytes& front = queue_.front();
    const ssize_t count = ::write(writer_.get(), front.data() + front_written_, front.size() - front_written_);
    if (count < 0) {
      is_lost = errno != EAGAIN && errno != EINTR;  // usually EPIPE: the rank has closed it or has ended
      break;
    }
    written += static_cast<std::uint32_t>(count);
    front_written_ += static_cast<std::size_t>(count);
    if (front_written_ < front.size()) continue;
    queue_.pop_front();
    front_written_ = 0;
  }
  queued_bytes_ -= written;
  if (!queue_.empty() && !is_lost && !watch_.is_set()) {
    auto watch = loop_.watch(writer_.get(), os::kWritable, [this] { advance(); });
    is_lost = !watch;
    if (watch) watch_ = *watch;
  }
  if (queue_.empty()) loop_.unwatch(watch_);
  if (written > 0) took_(written);
  if (is_lost || (is_ending_ && queue_.empty())) drop();
}

void InputPipe::drop() {
  loop_.unwatch(watch_);
  writer_.close();
  queue_.clear();
  front_written_ = 0;
  if (const std::size_t rest = std::exchange(queued_bytes_, 0); rest > 0) took_(static_cast<std::uint32_t>(rest));
}

}  // namespace tutti::launch
