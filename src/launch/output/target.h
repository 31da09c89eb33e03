// Where lines go in the end: a terminal or pipe that may be slow, or the files of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launch/output/printer.h"
#include "tutti/status.h"

namespace tutti::launch {

// Used by one thread.
class Target {
 public:
  virtual ~Target() = default;
  // Of the target's file number `file`. How many bytes went; 0: none now, wait for wait_fd() to become writable.
  virtual Result<std::size_t> write(std::uint32_t file, std::string_view bytes) = 0;
  virtual int wait_fd() const = 0;  // -1: there is nothing to wait for
};

// Leaves the flags of `fd` as they are: it may be shared with other processes, which do not expect it to be
// non-blocking. `name` is for messages: "stdout".
std::unique_ptr<Target> create_console_target(int fd, std::string name);

// Whether what is written to one appears among what is written to the other.
bool is_same_file(int fd, int other);

inline std::uint32_t file_of(Rank rank, Stream stream) {
  return static_cast<std::uint32_t>(rank) * 2 + (stream == Stream::err ? 1 : 0);
}
std::string file_path(const std::string& folder, FileNames names, Rank rank, Rank size, Stream stream);

// Creates the folder and the files, empty, numbered by file_of(). Only some of them are open at a time.
Result<std::unique_ptr<Target>> create_folder_target(const std::string& folder, FileNames names, Rank size);

}  // namespace tutti::launch
