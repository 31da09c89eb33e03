#include "bootstrap/meeting_point.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bootstrap/attachment.h"
#include "bootstrap/identifier.h"
#include "bootstrap/membership/meeting.h"
#include "bootstrap/network/place.h"
#include "os/environment.h"
#include "tutti/version.h"

namespace tutti::bootstrap {

namespace {

// What it takes to connect to all ranks that wait and to tell them something.
constexpr std::chrono::milliseconds kAnswerFor(300);

struct MeetingPoint {
  std::unique_ptr<rpc::Courier> courier;
  std::unique_ptr<Attachment<Meeting>> meeting;
};

// A mutex because any thread may open one, rarely.
struct Points {
  std::mutex mutex;
  std::vector<std::unique_ptr<MeetingPoint>> open;
};

Points& points() {
  static Points* points = new Points;  // never destroyed: the end of the process closes its sockets
  return *points;
}

}  // namespace

Result<Identifier> open_meeting_point() {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  TUTTI_ASSIGN(const Place place, find_place(knobs));
  TUTTI_ASSIGN(const rpc::Secret secret, rpc::Secret::create());
  const rpc::Encryption encryption = knobs.encrypt() ? rpc::Encryption::on : rpc::Encryption::off;
  auto point = std::make_unique<MeetingPoint>();
  TUTTI_ASSIGN(point->courier,
               rpc::Courier::start({.secret = secret, .encryption = encryption, .listen = place.listen}));
  TUTTI_ASSIGN(point->meeting, Attachment<Meeting>::create(*point->courier, kMembershipService, [](World& world) {
                 return std::make_unique<Meeting>(world, Meeting::Settings{.version = TUTTI_VERSION});
               }));
  TUTTI_ASSIGN(
      const Identifier identifier,
      make_identifier({.contact = point->courier->contact(), .secret = secret, .is_encrypted = knobs.encrypt()}));
  close_finished_meeting_points();
  const std::lock_guard lock(points().mutex);
  points().open.push_back(std::move(point));
  return identifier;
}

void let_meeting_points_answer() {
  {
    const std::lock_guard lock(points().mutex);
    if (points().open.empty()) return;
  }
  std::this_thread::sleep_for(kAnswerFor);
}

void close_finished_meeting_points() {
  std::vector<std::unique_ptr<MeetingPoint>> finished;  // closed outside the lock
  const std::lock_guard lock(points().mutex);
  std::erase_if(points().open, [&](auto& point) {
    bool is_done = false;
    point->courier->run([&] { is_done = point->meeting->actor().is_done(); });
    if (is_done) finished.push_back(std::move(point));
    return is_done;
  });
}

}  // namespace tutti::bootstrap
