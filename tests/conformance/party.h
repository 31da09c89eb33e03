// Ranks of a communicator as threads of this process, each of which says what went wrong.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tutti/communicator.h"

namespace tutti::conformance {

// Short enough for a test that hangs to fail by itself.
inline CommunicatorOptions patient(std::string algorithm = {}) {
  return {.start_timeout = std::chrono::seconds(30),
          .timeout = std::chrono::seconds(30),
          .algorithm = std::move(algorithm)};
}

inline std::vector<Communicator> create_party(Rank size, const CommunicatorOptions& options = patient()) {
  auto party = Communicator::create_local(size, options);
  EXPECT_TRUE(party.is_ok()) << party.status().text();
  return party ? *std::move(party) : std::vector<Communicator>();
}

// Runs the work as every rank; it returns nothing or what went wrong.
inline void in_threads(std::vector<Communicator>& party, const std::function<std::string(Communicator&)>& work) {
  std::vector<std::string> failures(party.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < party.size(); ++rank) {
    threads.emplace_back([&, rank] {
      failures[rank] = work(party[rank]);
      // The others need not wait for one that will not come.
      if (!failures[rank].empty()) party[rank].abort({Code::aborted, "a rank of the test has failed"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
}

inline std::string text_of(const Status& status) { return status ? std::string() : std::string(status.text()); }

}  // namespace tutti::conformance
