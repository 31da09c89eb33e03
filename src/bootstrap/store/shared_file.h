// A file that several processes change in turn, and that knows whether anybody else has it open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/deadline.h"
#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::bootstrap {

// Two locks of the open file, which the kernel drops when its process dies: one byte for the turn, and one byte that
// everybody who has the file open shares. Whoever can have that one alone is alone.
class SharedFile {
 public:
  // Whoever holds it has the turn. It must not outlive its file.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

   private:
    friend class SharedFile;
    explicit Turn(int fd) : fd_(fd) {}
    int fd_;
  };

  struct Opened;
  // Opens the file or creates it, and has the turn then. Refused: what is no plain file, and what belongs to another
  // user. The deadline is for those who have the turn.
  static Result<Opened> open(const std::string& path, Deadline deadline);

  const std::string& path() const { return path_; }
  Result<Turn> take_turn(Deadline deadline);

  // Right only while having the turn: who opens the file takes the turn first.
  bool is_alone() const;
  void remove() noexcept;  // the path, if this file is still what lies there

  Result<std::uint64_t> size() const;
  bool is_removed() const;  // nobody new can find it any more
  Status read(std::uint64_t offset, std::span<std::byte> bytes) const;
  Status write(std::uint64_t offset, std::span<const std::byte> bytes);  // all of it, or the file ends at the offset
  Status truncate(std::uint64_t size);
  Status close_to_others();  // mode 0600

 private:
  SharedFile(os::FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  bool is_at_path() const;
  os::FileDescriptor fd_;
  std::string path_;
};

struct SharedFile::Opened {
  SharedFile file;
  Turn turn;
};

}  // namespace tutti::bootstrap
