// Where the ranks of an elastic job learn of their worlds: the job's store, and a meeting point for each world.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/job_world.h"
#include "bootstrap/meeting_point.h"
#include "launch/elastic/policy.h"
#include "tutti/status.h"

namespace tutti::launch {

// In the process of the launcher, for as long as the job lives. Nothing here waits for other hosts.
class WorldBoard {
 public:
  static Result<std::unique_ptr<WorldBoard>> open();

  std::string address() const;  // TUTTI_STORE of all ranks
  Status publish(const PublishWorld& world);
  int reported_generation();         // of the newest world whose ranks have reported a failure; -1: of none
  void close(std::string_view why);  // no world will come any more

 private:
  explicit WorldBoard(std::unique_ptr<bootstrap::MeetingPoint> point)
      : point_(std::move(point)), store_(point_->store_here()) {}

  std::unique_ptr<bootstrap::MeetingPoint> point_;
  std::unique_ptr<bootstrap::Store> store_;
  // The present world's, and the one before, whose ranks may still be on their way out of it.
  std::unique_ptr<bootstrap::MeetingPoint> present_, before_;
};

}  // namespace tutti::launch
