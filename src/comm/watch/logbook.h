// The pages of all sides of this process, in one segment that other processes find by its name.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "comm/watch/recorder.h"
#include "comm/watch/recording.h"
#include "os/segment.h"

namespace tutti::comm::watch {

class Logbook {
 public:
  // Made at the first use and never destroyed. A process that was forked gets its own.
  static Logbook& of_process();

  Logbook();
  Logbook(const Logbook&) = delete;

  // A page for a new side. Where the segment is full or could not be had, it is memory that nobody else sees.
  SidePage& take(const SideFacts& facts);
  // Its content stays until somebody needs the page.
  void give_back(const SidePage& page);
  // The side of this page has ended for this reason.
  void set_ended(SidePage& page, Code code, std::string_view reason);

  Recording read(const SidePage& page) const;
  // Of all sides that have not left.
  std::vector<Recording> read_all() const;
  os::TickSource source() const { return source_; }

 private:
  SidePage* find_free();
  std::uint64_t name_communicator(const SideFacts& facts);
  Recording read_locked(const SidePage& page) const;

  // A mutex because sides come and go on any thread; calls never take it.
  mutable std::mutex mutex_;
  os::TickSource source_;
  SegmentHead head_ = {};
  os::Segment segment_;  // may be empty
  std::vector<std::unique_ptr<SidePage>> private_pages_;
  std::vector<SidePage*> used_;
  std::unordered_map<std::uint64_t, std::uint32_t> memberships_;  // how many communicators had these members
};

}  // namespace tutti::comm::watch
