// Capture of streams: instead of running, work is kept, and then run again as often as the program likes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/task.h"
#include "tutti/status.h"

namespace tutti::device {

class Capture;
class HostStream;
struct Mark;

// One stream's part in a capture.
class Recording {
 public:
  // Makes a fresh task for every run.
  using Maker = std::function<std::shared_ptr<Task>()>;

  Recording(std::shared_ptr<Capture> capture, std::size_t lane) : capture_(std::move(capture)), lane_(lane) {}

  // In the order of the stream. Nothing when the capture is no longer valid.
  void add(Maker maker);
  Capture& capture() const { return *capture_; }
  std::size_t lane() const { return lane_; }

 private:
  const std::shared_ptr<Capture> capture_;  // shared by all streams that take part
  const std::size_t lane_;
};

// A moment in a capture that other streams wait for.
struct CapturePoint {
  std::shared_ptr<Recording> recording;
  std::size_t mark_index = 0;
  std::vector<std::size_t> seen = {};  // by lane: how much of its work has been done then for certain
};

// What was captured. Lane 0 is that of the stream on which the capture began; all others have been joined to it.
struct CapturedWork {
  struct Step {
    enum class Kind : std::uint8_t { run, mark, wait };
    Kind kind = Kind::run;
    std::size_t lane = 0;
    Recording::Maker maker = {};  // of run
    std::size_t mark_index = 0;   // of mark and wait
  };
  std::vector<Step> steps = {};
  std::size_t lane_count = 1;
  std::size_t mark_count = 0;

  std::size_t task_count() const;
};

// A mutex because the streams of a capture may belong to several threads.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  // How much of what the program does meanwhile counts as wrong, as in CUDA.
  enum class Mode : std::uint8_t { global, thread_local_only, relaxed };

  // The stream must not be captured already.
  static std::shared_ptr<Capture> begin(const std::shared_ptr<HostStream>& origin, Mode mode);

  std::uint64_t id() const { return id_; }
  Mode mode() const { return mode_; }
  bool is_of_this_thread() const;
  bool is_valid() const { return is_valid_.load(std::memory_order_acquire); }
  // Something happened that cannot be kept: what was captured is lost when the capture ends.
  void invalidate() { is_valid_.store(false, std::memory_order_release); }

  void add(std::size_t lane, Recording::Maker maker);
  CapturePoint mark(const std::shared_ptr<Recording>& recording);
  // Work that is added to the stream from now on waits for that point; a stream that is not captured yet joins.
  void wait(const std::shared_ptr<HostStream>& stream, const CapturePoint& point);

  enum class Outcome : std::uint8_t { complete, unjoined, invalid };
  // No stream is captured any more. unjoined: the first stream did not wait for the work of all others.
  Outcome end(CapturedWork& work);

 private:
  explicit Capture(Mode mode);
  std::shared_ptr<Recording> join(const std::shared_ptr<HostStream>& stream);

  const std::uint64_t id_;
  const Mode mode_;
  const std::uint64_t thread_;  // that began it
  std::atomic<bool> is_valid_ = true;
  std::mutex mutex_;
  CapturedWork work_;
  std::vector<std::weak_ptr<HostStream>> streams_;  // by lane
  std::vector<std::vector<std::size_t>> seen_;      // by lane, then by lane: how much work comes before for certain
};

// Work that can be run again and again, one run after the other.
class Replay {
 public:
  explicit Replay(std::shared_ptr<const CapturedWork> work) : work_(std::move(work)) {}
  // In the order of these streams; all that was captured has ended when that place in the order is reached.
  void launch(std::span<const std::shared_ptr<HostStream>> order);

 private:
  const std::shared_ptr<const CapturedWork> work_;  // shared with the graph it was made from
  std::mutex mutex_;
  std::shared_ptr<const Mark> last_end_;  // of the run before
};

}  // namespace tutti::device
