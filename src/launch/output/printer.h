// Brings the output of all ranks to the terminal or to files: whole lines, marked with whose they are.
#pragma once

#include <unistd.h>

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
enum class FileNames : std::uint8_t {
  flat,     // FOLDER/rank.3.out and FOLDER/rank.3.err
  horovod,  // FOLDER/rank.03/stdout and FOLDER/rank.03/stderr, as wide as the largest rank
};

struct OutputSettings {
  Tag tag = Tag::rank;
  Colour colour = Colour::automatic;  // on a terminal, unless NO_COLOR is set or TERM is dumb
  bool has_timestamps = false;        // in files too
  std::string folder = {};            // a file for each rank and stream instead; empty: none
  FileNames file_names = FileNames::flat;
  bool also_prints = false;     // besides the files
  std::vector<Rank> only = {};  // whose output is printed; empty: all. Files have that of all.
};

// Where lines go that are not for files.
struct Console {
  int out = STDOUT_FILENO;
  int err = STDERR_FILENO;
};

// On the thread of the loop. Never blocks: what a slow reader does not take is kept up to a limit, and is_full() says
// so; whoever feeds it stops feeding until `on_room` is called. That is called too when failure() has come, and the
// loop wakes when is_written() has become true after it was not.
class Printer {
 public:
  // Ranks are those below `size`; output of others is dropped. Files are created here, empty.
  static Result<std::unique_ptr<Printer>> create(os::EventLoop& loop, const OutputSettings& settings, Rank size,
                                                 std::function<void()> on_room, Console console = {});
  // What has not been written within two seconds is lost: wait for is_written() before, as long as is right.
  virtual ~Printer() = default;
  // Any bytes, whole lines or not: a line appears when it has ended.
  virtual void print(Rank rank, Stream stream, std::span<const std::byte> bytes) = 0;
  virtual void end(Rank rank) = 0;                  // a last line without an end gets one
  virtual void say(std::string_view sentence) = 0;  // of the launcher itself: to stderr, a line, after what came before
  virtual bool is_full() const = 0;
  virtual bool is_written() const = 0;
  // Why output is lost: a full disk, or peer_lost when nobody reads stdout or stderr any more. What cannot be written
  // is dropped from then on, so that ranks do not wait for it.
  virtual Status failure() const = 0;
  // The last lines of a rank's stderr, or of its stdout where that is empty; at most 20.
  virtual std::vector<std::string> last_lines(Rank rank) const = 0;
};

}  // namespace tutti::launch
