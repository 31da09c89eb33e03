// Where the ranks of a job meet: a port that they connect to, a meeting that tells them of each other, and a store.
#pragma once

#include <memory>

#include "base/deadline.h"
#include "base/knobs.h"
#include "bootstrap/attachment.h"
#include "bootstrap/membership/meeting.h"
#include "bootstrap/store/store_server.h"
#include "rpc/courier.h"
#include "tutti/identifier.h"

namespace tutti::bootstrap {

// What actors speak of, and so the place they have with a courier.
inline constexpr rpc::Service kMembershipService = 1;
inline constexpr rpc::Service kStoreService = 2;

// In the process of a rank or of a launcher. Closes with its destruction.
class MeetingPoint {
 public:
  static Result<std::unique_ptr<MeetingPoint>> open(const Knobs& knobs);
  // At the address of the identifier, which is fixed.
  static Result<std::unique_ptr<MeetingPoint>> open_at(const Identifier& identifier);

  const Identifier& identifier() const { return identifier_; }
  const std::vector<std::string>& addresses() const { return courier_->addresses(); }
  // From any thread.
  Status failure();    // why the ranks will never meet
  bool is_finished();  // they have met, and nobody uses the store
  bool is_store_unused();
  // Its store for this process, without a network: no call takes long, and none waits for a key that is not there. Goes
  // before the meeting point.
  std::unique_ptr<Store> store_here();

 private:
  MeetingPoint(std::unique_ptr<rpc::Courier> courier, const Identifier& identifier)
      : courier_(std::move(courier)), identifier_(identifier) {}
  Status attach(Meeting::Settings settings);

  std::unique_ptr<rpc::Courier> courier_;
  Identifier identifier_;
  std::unique_ptr<Attachment<Meeting>> meeting_;
  std::unique_ptr<Attachment<StoreServer>> store_;
};

// One of this process, which stays open until it is finished or the process ends.
Result<Identifier> open_meeting_point();
// The same where a fixed address says, once an earlier one of this process at that address is finished.
Status open_meeting_point(const Identifier& identifier, Deadline deadline);
// Nobody will come to that one. Nothing where there is none of this process.
void close_meeting_point(const Identifier& identifier);
// Those that are finished. Called now and then by whoever opens or joins one.
void close_finished_meeting_points();
// Before a process that holds one may end because its own start has failed: others learn why.
void let_meeting_points_answer();

}  // namespace tutti::bootstrap
