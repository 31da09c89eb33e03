// Anonymous memory that can be given to other processes: a sealed memfd and its mapping.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "os/file_descriptor.h"
#include "tutti/status.h"

namespace tutti::os {

// Sparse and zero at first: pages exist once they are touched. Left out of core dumps, which would otherwise touch
// every page of it.
class Segment {
 public:
  // `name` is what /proc/PID/maps shows.
  static Result<Segment> create(std::string_view name, std::size_t bytes);
  // Maps what another process created. Refuses files that are shorter or not sealed against shrinking, because their
  // owner could make any access here a SIGBUS.
  static Result<Segment> adopt(FileDescriptor fd, std::size_t bytes);

  Segment() = default;
  Segment(Segment&& other) noexcept
      : fd_(std::move(other.fd_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Segment& operator=(Segment&& other) noexcept;
  ~Segment() { unmap(); }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  int fd() const { return fd_.get(); }

  // Gives the pages that lie wholly in this range back to the kernel; all of the range reads as zero afterwards, in
  // every process.
  Status release_pages(std::size_t offset, std::size_t bytes) const;

 private:
  static Result<Segment> map(FileDescriptor fd, std::size_t bytes);
  void unmap();

  FileDescriptor fd_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tutti::os
