#include "bootstrap/meeting_point.h"

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bootstrap/identifier.h"
#include "bootstrap/network/place.h"
#include "os/environment.h"
#include "tutti/version.h"

namespace tutti::bootstrap {

namespace {

// What it takes to connect to all ranks that wait and to tell them something.
constexpr std::chrono::milliseconds kAnswerFor(300);

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

Result<std::unique_ptr<MeetingPoint>> MeetingPoint::open(const Knobs& knobs) {
  TUTTI_ASSIGN(const Place place, find_place(knobs));
  TUTTI_ASSIGN(const rpc::Secret secret, rpc::Secret::create());
  const rpc::Encryption encryption = knobs.encrypt() ? rpc::Encryption::on : rpc::Encryption::off;
  TUTTI_ASSIGN(auto courier, rpc::Courier::start({.secret = secret, .encryption = encryption, .listen = place.listen}));
  TUTTI_ASSIGN(const Identifier identifier,
               make_identifier({.contact = courier->contact(), .secret = secret, .is_encrypted = knobs.encrypt()}));
  std::unique_ptr<MeetingPoint> point(new MeetingPoint(std::move(courier), identifier));  // NOLINT: private
  TUTTI_ASSIGN(point->meeting_, Attachment<Meeting>::create(*point->courier_, kMembershipService, [](World& world) {
                 return std::make_unique<Meeting>(world, Meeting::Settings{.version = TUTTI_VERSION});
               }));
  TUTTI_ASSIGN(point->store_, Attachment<StoreServer>::create(*point->courier_, kStoreService, [](World& world) {
                 return std::make_unique<StoreServer>(world);
               }));
  return point;
}

Status MeetingPoint::failure() {
  Status failure;
  courier_->run([&] { failure = meeting_->actor().failure(); });
  return failure;
}

bool MeetingPoint::is_finished() {
  bool is_finished = false;
  courier_->run([&] { is_finished = meeting_->actor().is_done() && store_->actor().is_unused(); });
  return is_finished;
}

Result<Identifier> open_meeting_point() {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  TUTTI_ASSIGN(auto point, MeetingPoint::open(knobs));
  const Identifier identifier = point->identifier();
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
    if (!point->is_finished()) return false;
    finished.push_back(std::move(point));
    return true;
  });
}

}  // namespace tutti::bootstrap
