// Brings the output of all ranks to the terminal or to files: whole lines, marked with whose they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "launch/message.h"
#include "os/event_loop.h"
#include "tutti/status.h"

namespace tutti::launch {

enum class Tag : std::uint8_t {
  none,
  rank,      // "[3] "
  open_mpi,  // "[1,3]<stdout>:"
};
enum class Colour : std::uint8_t { automatic, always, never };

struct OutputSettings {
  Tag tag = Tag::rank;
  Colour colour = Colour::automatic;  // on a terminal, unless NO_COLOR is set
  bool has_timestamps = false;
  std::string folder = {};      // a file for each rank and stream instead: FOLDER/rank.3.out; empty: none
  bool also_prints = false;     // besides the files
  std::vector<Rank> only = {};  // whose output is printed; empty: all. Files have that of all.
};

// On the thread of the loop. Never blocks: what a slow reader does not take is kept up to a limit, and is_full() says
// so; whoever feeds it stops feeding until `on_room` is called.
class Printer {
 public:
  static Result<std::unique_ptr<Printer>> create(os::EventLoop& loop, const OutputSettings& settings, Rank size,
                                                 std::function<void()> on_room);
  virtual ~Printer() = default;
  virtual void print(Rank rank, Stream stream, std::span<const std::byte> bytes) = 0;
  virtual void end(Rank rank) = 0;                  // a last line without an end gets one
  virtual void say(std::string_view sentence) = 0;  // of the launcher itself: to stderr, a line, after what came before
  virtual bool is_full() const = 0;
  virtual bool is_written() const = 0;
  virtual Status failure() const = 0;  // why nothing can be written any more: a full disk, a closed pipe
  // The last lines of a rank's stderr, or of its stdout where that is empty; at most 20.
  virtual std::vector<std::string> last_lines(Rank rank) const = 0;
};

}  // namespace tutti::launch
