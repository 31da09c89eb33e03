// Two ranks of which one sleeps in the application between two calls until the other has warned of it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "bootstrap/store/place_for_test.h"
#include "tests/process/crew.h"
#include "tests/process/meeting.h"
#include "tutti/identifier.h"

namespace tutti::conformance {

inline std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

inline std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class Latecomer {
 public:
  // Called by each rank in its own process: where the ranks meet, having gone to where the rank belongs.
  using Store = std::function<std::string(int rank, const std::string& folder)>;

  explicit Latecomer(const Store& store) : log_(directory_ / "log") {
    Crew crew(2, [&](int rank) { return play(rank, store(rank, directory_ / "")); });
    pid = crew.pid(1);
    texts = crew.finish();
    log = file_text(log_ + "0");
  }

  // A store for ranks on any hosts: rank 0 makes the identifier and hands it over by a file.
  static std::string identifier_store(int rank, const std::string& folder) {
    const std::string path = folder + "identifier";
    if (rank == 0) {
      const auto identifier = Identifier::create();
      if (!identifier) return std::string(identifier.status().text());
      std::ofstream(path + ".new") << "tcp:" << identifier->text();
      ::rename((path + ".new").c_str(), path.c_str());
    }
    wait_until([&] { return !file_text(path).empty(); });
    return file_text(path);
  }

  // One warning, and the call went well after all.
  void expect_warned_once() const {
    for (const std::string& text : texts) EXPECT_EQ(text, "");
    EXPECT_EQ(line_count(log), 1u) << log;
    const std::string program = ::program_invocation_short_name;
    for (const std::string& part :
         {std::string("[0] warning: barrier (call 2) on rank 0"), fmt::format("for rank 1 (pid {} on", pid),
          std::string("which has not made this call; its last was call 1, all_reduce of 5 int32, sum"),
          "; its main thread: " + program + " (", std::string("it goes on waiting")}) {
      EXPECT_NE(log.find(part), std::string::npos) << log << "lacks: " << part;
    }
    const bool has_place = log.find(", at ") != std::string::npos;
    EXPECT_TRUE(has_place || log.find("no stack: cannot trace") != std::string::npos) << log;
  }

  std::vector<std::string> texts;
  std::string log;  // of rank 0
  pid_t pid = 0;    // of rank 1

 private:
  template <class Condition>
  static bool wait_until(Condition condition) {
    const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(30));
    while (!condition()) {
      if (deadline.has_passed(os::now())) return false;
      ::usleep(1000);
    }
    return true;
  }

  std::string play(int rank, const std::string& store) {
    ::setenv("TUTTI_LATE_WARNING", "200ms", 1);
    ::setenv("TUTTI_LOG_FILE", (log_ + std::to_string(rank)).c_str(), 1);
    auto communicator = Communicator::create({.rank = rank, .size = 2, .store = store});
    if (!communicator) return spoken(communicator.status());
    std::int32_t data[5] = {};
    if (const Status first = communicator->all_reduce(std::span<std::int32_t>(data)); !first) return spoken(first);
    if (rank == 1) {
      if (!wait_until([&] { return line_count(file_text(log_ + "0")) > 0; })) return "nobody warned";
      ::usleep(300'000);  // time for a second warning, which would be one too many
    }
    return spoken_unless_ok(communicator->barrier());
  }

  static std::string spoken_unless_ok(const Status& status) { return status ? "" : spoken(status); }

  bootstrap::TemporaryDirectory directory_;
  std::string log_;
};

}  // namespace tutti::conformance
