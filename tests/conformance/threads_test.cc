// Communicators whose ranks are threads, against the definition of each collective.
#include <gtest/gtest.h>

#include "tests/conformance/party.h"
#include "tests/conformance/scenario.h"
#include "tests/plans/seed.h"

namespace tutti::conformance {
namespace {

constexpr std::uint64_t kBytesMax = 3 << 20;

TEST(CommunicatorInThreads, GivesWhatEveryCollectivePromises) {
  for (const Rank size : {1, 2, 3, 4, 7}) {
    auto party = create_party(size);
    const std::uint64_t bytes_max = size > 4 ? kBytesMax / 16 : kBytesMax;
    in_threads(party, [&](Communicator& communicator) {
      return play_many(communicator, 150, bytes_max, static_cast<std::uint64_t>(size));
    });
    if (HasFailure()) return;
  }
}

// Every algorithm by name, at sizes on both sides of every boundary.
TEST(CommunicatorInThreads, GivesWhatEveryCollectivePromisesByEveryAlgorithm) {
  for (const plan::Algorithm& algorithm : plan::algorithms()) {
    plan::Shape shape{
        .collective = algorithm.collective, .ranks = 3, .peer = 1, .in_place = true, .host_of = {}, .orders = {}};
    shape.reach = plan::Reach::full;
    if (!algorithm.fits(shape) || algorithm.collective == Collective::send_receive) continue;
    auto party = create_party(3, patient(std::string(algorithm.name)));
    in_threads(party, [&](Communicator& communicator) -> std::string {
      for (const std::uint64_t count : {0, 1, 5, 56, 225, 3000, 70001}) {
        Scenario scenario{.collective = algorithm.collective, .count = count, .counts = {}, .root = 1, .seed = count};
        const std::string failure = play(communicator, scenario);
        if (!failure.empty()) return failure;
        if (communicator.last_plan() != algorithm.name) return "another plan ran: " + communicator.last_plan();
      }
      return {};
    });
    if (HasFailure()) return;
  }
}

TEST(CommunicatorInThreads, AnAlgorithmThatDoesNotFitIsRefusedAndHarmsNothing) {
  auto party = create_party(2, patient("bruck"));
  in_threads(party, [](Communicator& communicator) -> std::string {
    float data[3] = {};
    const Status refused = communicator.broadcast(std::span<float>(data), 0);
    if (refused.code() != Code::unsupported) return "broadcast by bruck gives " + text_of(refused);
    if (!communicator.health()) return "the communicator has ended";
    float all[6] = {};
    return text_of(communicator.all_gather(std::span<const float>(data), std::span<float>(all)));
  });
}

}  // namespace
}  // namespace tutti::conformance
