#include "launch/agent/output_pipe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "launch/message.h"
#include "os/error_text.h"

namespace tutti::launch {
namespace {

// A rank writes so much without waiting for us. Not more: the kernel gives each user 64 MiB for all pipes, and where a
// host has many ranks their own pipes would become tiny.
constexpr int kPipeBytes = 256 << 10;
constexpr std::size_t kSpaceBytes = kPipeBytes;
constexpr int kReadsMax = 64;  // when cut: more than a pipe holds

}  // namespace

Result<std::unique_ptr<OutputPipe>> OutputPipe::create(os::EventLoop& loop, Take take, End end) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Status(Code::out_of_memory,
                  fmt::format("cannot create a pipe for output: {}; look at 'ulimit -n'", os::error_text(errno)));
  os::FileDescriptor reader(ends[0]), writer(ends[1]);
  ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(reader.get(), F_SETPIPE_SZ, kPipeBytes);  // where the user has too many pipes already, this one stays small
  return std::unique_ptr<OutputPipe>(
      new OutputPipe(loop, std::move(reader), std::move(writer), std::move(take), std::move(end)));
}

OutputPipe::OutputPipe(os::EventLoop& loop, os::FileDescriptor reader, os::FileDescriptor writer, Take take, End end)
    : loop_(loop),
      reader_(std::move(reader)),
      writer_(std::move(writer)),
      take_(std::move(take)),
      end_(std::move(end)) {}

OutputPipe::~OutputPipe() { loop_.unwatch(watch_); }

Status OutputPipe::start() {
  writer_.close();
  return watch();
}

Status OutputPipe::watch() {
  if (watch_.is_set() || has_ended() || writer_.is_open() || !is_reading_) return {};
  TUTTI_ASSIGN(watch_, loop_.watch(reader_.get(), os::kReadable, [this] { read_once(); }));
  return {};
}

void OutputPipe::set_reading(bool is_reading) {
  is_reading_ = is_reading;
  if (!is_reading) return loop_.unwatch(watch_);
  // Watching can only fail for lack of memory, and then this stream is over.
  if (const Status status = watch(); !status) loop_.call_later([this] { finish(); });
}

void OutputPipe::cut() {
  for (int turn = 0; turn < kReadsMax && read_once(); ++turn) {
  }
  if (!has_ended()) finish();
}

bool OutputPipe::read_once() {
  if (has_ended()) return false;
  if (filled_ == space_bytes_) {  // a line that is longer than the space, which grows with it
    const std::size_t bytes = space_bytes_ == 0 ? kSpaceBytes : std::min(2 * space_bytes_, kOutputBytesMax);
    auto larger = std::make_unique_for_overwrite<std::byte[]>(bytes);
    if (filled_ > 0) std::memcpy(larger.get(), space_.get(), filled_);
    space_ = std::move(larger);
    space_bytes_ = bytes;
  }
  const ssize_t got = ::read(reader_.get(), space_.get() + filled_, space_bytes_ - filled_);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    finish();
    return false;
  }
  const std::size_t before = filled_;
  filled_ += static_cast<std::size_t>(got);
  const auto* const last = static_cast<const std::byte*>(::memrchr(space_.get() + before, '\n', filled_ - before));
  if (last != nullptr) {
    pass(static_cast<std::size_t>(last - space_.get()) + 1);
  } else if (filled_ == kOutputBytesMax) {
    pass(filled_);
  }
  return true;
}

void OutputPipe::pass(std::size_t count) {
  const std::span<const std::byte> bytes(space_.get(), count);
  Bytes piece(bytes.begin(), bytes.end());
  std::memmove(space_.get(), space_.get() + count, filled_ - count);
  filled_ -= count;
  take_(std::move(piece));
}

void OutputPipe::finish() {
  loop_.unwatch(watch_);
  reader_.close();
  if (filled_ > 0) pass(filled_);
  space_.reset();
  end_();
}

}  // namespace tutti::launch
