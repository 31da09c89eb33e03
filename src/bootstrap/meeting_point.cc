#include "bootstrap/meeting_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bootstrap/fixed_address.h"
#include "bootstrap/identifier.h"
#include "bootstrap/network/place.h"
#include "bootstrap/store/remote_store.h"
#include "os/clock.h"
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

class AskerHere final : public Asker {
 public:
  AskerHere(rpc::Courier& courier, Attachment<StoreServer>& server) : courier_(courier), server_(server) {}
  Result<Reply> ask(const Request& request, Deadline) override {
    Reply reply;
    courier_.run([&] { reply = server_.actor().ask_here(request); });
    return reply;
  }
  void remove() noexcept override {}  // nothing lies anywhere

 private:
  rpc::Courier& courier_;
  Attachment<StoreServer>& server_;
};

// How often an earlier meeting is looked at.
constexpr std::chrono::milliseconds kLook(10);

// False: there is one that goes on.
bool close_earlier(const Identifier& identifier) {
  std::unique_ptr<MeetingPoint> over;  // closed outside the lock
  const std::lock_guard lock(points().mutex);
  const auto is_it = [&](const auto& point) { return point->identifier() == identifier; };
  const auto found = std::ranges::find_if(points().open, is_it);
  if (found == points().open.end()) return true;
  if (!(*found)->is_finished() && (*found)->failure().is_ok()) return false;
  over = std::move(*found);
  points().open.erase(found);
  return true;
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
  TUTTI_TRY(point->attach({.version = TUTTI_VERSION}));
  return point;
}

Result<std::unique_ptr<MeetingPoint>> MeetingPoint::open_at(const Identifier& identifier) {
  TUTTI_ASSIGN(const MeetingAddress address, read_identifier(identifier));
  TUTTI_ASSIGN(const std::vector<std::string> listen, own_addresses_of(address));
  auto courier = rpc::Courier::start({.secret = address.secret,
                                      .encryption = address.is_encrypted ? rpc::Encryption::on : rpc::Encryption::off,
                                      .id = address.contact.id,
                                      .listen = listen});
  if (!courier) {
    return Status(
        courier.status().code(),
        fmt::format(
            "the meeting point cannot be opened: {}; the address that all ranks were told "
            "(NCCL_COMM_ID, TUTTI_STORE, or by their launcher) needs a port that no other program of this host uses",
            courier.status().text()));
  }
  std::unique_ptr<MeetingPoint> point(new MeetingPoint(*std::move(courier), identifier));  // NOLINT: private
  TUTTI_TRY(point->attach({.version = TUTTI_VERSION, .is_used_again = true}));
  return point;
}

Status MeetingPoint::attach(Meeting::Settings settings) {
  TUTTI_ASSIGN(meeting_, Attachment<Meeting>::create(*courier_, kMembershipService, [&](World& world) {
                 return std::make_unique<Meeting>(world, std::move(settings));
               }));
  TUTTI_ASSIGN(store_, Attachment<StoreServer>::create(*courier_, kStoreService, [](World& world) {
                 return std::make_unique<StoreServer>(world);
               }));
  return {};
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

bool MeetingPoint::is_store_unused() {
  bool is_unused = false;
  courier_->run([&] { is_unused = store_->actor().is_unused(); });
  return is_unused;
}

std::unique_ptr<Store> MeetingPoint::store_here() {
  return create_remote_store(std::make_unique<AskerHere>(*courier_, *store_));
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

Status open_meeting_point(const Identifier& identifier, Deadline deadline) {
  while (!close_earlier(identifier)) {  // bounded by the deadline
    if (deadline.has_passed(os::now())) {
      return Status(Code::timed_out,
                    "ranks of an earlier communicator still meet at the same address; start one after the other");
    }
    std::this_thread::sleep_for(kLook);
  }
  TUTTI_ASSIGN(auto point, MeetingPoint::open_at(identifier));
  const std::lock_guard lock(points().mutex);
  points().open.push_back(std::move(point));
  return {};
}

void close_meeting_point(const Identifier& identifier) {
  std::unique_ptr<MeetingPoint> closed;  // after the lock is gone
  std::unique_lock lock(points().mutex);
  const auto is_it = [&](const auto& point) { return point->identifier() == identifier; };
  const auto found = std::ranges::find_if(points().open, is_it);
  if (found == points().open.end()) return;
  closed = std::move(*found);
  points().open.erase(found);
  lock.unlock();
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
