// How many connections two ranks have, and that they agree on it.
#include <gtest/gtest.h>
#include <poll.h>

#include "comm/side.h"
#include "comm/start.h"
#include "tests/network/job.h"

namespace tutti::network {
namespace {

// Of each rank, by name: what its process is told.
using Settings = std::vector<Environment>;

// Adds up data of several sizes, an odd number of times: what is kept for a rank that takes it in pairs would be
// missed.
std::string add_up(comm::Side& side) {
  for (const std::size_t count : {1, 5000, 1 << 20}) {
    std::vector<std::int32_t> data(count, side.rank() + 1);
    const Status status = side.run({.in = data.data(), .out = data.data(), .count = count, .type = DataType::int32});
    if (!status) return spoken(status);
    const std::int32_t wanted = side.size() * (side.size() + 1) / 2;
    if (data != std::vector<std::int32_t>(count, wanted)) return "wrong sums";
  }
  return {};
}

class Connections : public OnHosts {
 protected:
  // Rank 0, which is on another host than all others, has so many connections to each of them.
  static void expect(std::size_t connections, const Settings& settings) {
    const Lab lab = create({.rails = {{}, {}}});
    std::vector<int> hosts(settings.size(), 1);
    hosts[0] = 0;
    const auto size = static_cast<Rank>(hosts.size());
    Job job(lab, hosts, {.times = {.call = std::chrono::seconds(20)}}, [&](Rank rank, const Letter& letter) {
      for (const auto& [name, value] : settings[static_cast<std::size_t>(rank)]) {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
      if (rank == 0) {
        const auto identifier = Identifier::create();
        letter.write(identifier ? identifier->text() : "none");
      }
      CommunicatorOptions options{.rank = rank, .size = size, .store = "tcp:" + letter.read()};
      options.timeout = std::chrono::seconds(20);
      const auto side = comm::start(options);
      if (!side) return spoken(side.status());
      if (std::string failure = add_up(**side); !failure.empty()) return failure;
      std::vector<pollfd> found;
      (*side)->outside()->links().add_to(found);
      return rank != 0 || found.size() == connections ? "" : fmt::format("{} connections", found.size());
    });
    job.expect_success();
  }
};

Environment sockets(const std::string& count) { return {{"TUTTI_SOCKETS_PER_PEER", count}}; }
Environment rails(const std::string& count) { return {{"TUTTI_RAILS_MAX", count}}; }

TEST_F(Connections, AreOneForEachRailUnlessMoreAreAskedFor) {
  expect(2, {{}, {}});
  expect(6, {sockets("3"), sockets("3")});
}

TEST_F(Connections, AreAsManyAsRank0SaysWhateverTheOthersWant) {
  expect(2, {{}, sockets("3")});
  expect(4, {sockets("2"), {}});
  expect(1, {rails("1"), {}});
  expect(2, {{}, rails("1")});
}

}  // namespace
}  // namespace tutti::network
