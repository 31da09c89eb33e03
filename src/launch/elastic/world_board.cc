#include "launch/elastic/world_board.h"

#include "base/knobs.h"
#include "os/environment.h"

namespace tutti::launch {
namespace {

Result<std::unique_ptr<bootstrap::MeetingPoint>> open_point() {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  return bootstrap::MeetingPoint::open(knobs);
}

std::string address_of(const bootstrap::MeetingPoint& point) { return "tcp:" + point.identifier().text(); }

}  // namespace

Result<std::unique_ptr<WorldBoard>> WorldBoard::open() {
  TUTTI_ASSIGN(auto point, open_point());
  return std::unique_ptr<WorldBoard>(new WorldBoard(std::move(point)));  // NOLINT: private
}

std::string WorldBoard::address() const { return address_of(*point_); }

Status WorldBoard::publish(const PublishWorld& world) {
  TUTTI_ASSIGN(auto point, open_point());
  before_ = std::move(present_);
  present_ = std::move(point);
  return bootstrap::publish_world(
      *store_, {.generation = world.generation, .store = address_of(*present_), .members = world.members});
}

int WorldBoard::reported_generation() {
  const auto reported = bootstrap::reported_generation(*store_);
  return reported ? *reported : -1;  // what a rank gone wild has written there is no report
}

void WorldBoard::close(std::string_view why) {
  // It fails only where the store is full, and then the ranks learn of the end by their agents.
  (void)bootstrap::close_worlds(*store_, why);
}

}  // namespace tutti::launch
