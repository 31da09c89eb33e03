// The ranks of a job as processes on the hosts of a lab. The first of them makes the identifier and hands it to the
// others through memory that all map.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "os/clock.h"
#include "tests/network/lab/lab.h"
#include "tests/process/board.h"
#include "tests/process/crew.h"
#include "tests/process/meeting.h"
#include "tutti/communicator.h"

namespace tutti::network {

using conformance::Board;
using conformance::Crew;
using conformance::runs_all;
using conformance::spoken;
using conformance::Times;
using lab::Lab;
using lab::LabOptions;

// A few words that one process of a test writes and the others read. Made before they are.
class Letter {
 public:
  Letter() {
    void* memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    page_ = new (memory) Page{};
  }
  Letter(const Letter&) = delete;
  Letter& operator=(const Letter&) = delete;
  ~Letter() { ::munmap(page_, sizeof(Page)); }

  void write(const std::string& text) const {
    if (text.size() >= sizeof(page_->text)) std::abort();
    std::memcpy(page_->text, text.c_str(), text.size() + 1);
    page_->is_written.store(1);
  }
  // Empty when it takes longer than any test may.
  std::string read() const { return Board::wait_for(page_->is_written, 1) ? page_->text : std::string(); }

 private:
  struct Page {
    std::atomic<std::uint32_t> is_written;
    char text[1020];
  };
  Page* page_;
};

// What a process writes to stderr, kept in memory. Made before the process is.
class Stderr {
 public:
  Stderr() : file_(::memfd_create("stderr", MFD_CLOEXEC)) { ::fcntl(file_.get(), F_SETFL, O_APPEND); }
  void capture() const { ::dup2(file_.get(), STDERR_FILENO); }
  std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)), '\0');
    const ssize_t bytes = ::pread(file_.get(), text.data(), text.size(), 0);
    text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return text;
  }

 private:
  os::FileDescriptor file_;
};

using Environment = std::map<std::string, std::string>;

struct JobOptions {
  Times times = {};
  Environment environment = {};
  std::string algorithm = {};
  unsigned seconds_max = 120;  // after which a process that hangs ends by itself
};

class Job {
 public:
  using Work = std::function<std::string(Communicator&)>;
  using Life = std::function<std::string(Rank, const Letter&)>;

  // `hosts`: of each rank. What a rank says is what the work says; a failed work aborts the communicator.
  Job(const Lab& lab, std::vector<int> hosts, const Work& work, const JobOptions& options = {})
      : Job(lab, hosts, options, [&hosts, work, options](Rank rank, const Letter& letter) {
          auto communicator = meet(rank, static_cast<Rank>(hosts.size()), letter, options);
          if (!communicator) return "start: " + spoken(communicator.status());
          const std::string failure = work(*communicator);
          if (!failure.empty() && communicator->health()) {
            communicator->abort({Code::aborted, "a rank of the test has failed: " + failure});
          }
          return failure;
        }) {}

  // Ranks that do not start as they should.
  Job(const Lab& lab, const std::vector<int>& hosts, const JobOptions& options, const Life& life) {
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) stderrs_.push_back(std::make_unique<Stderr>());
    crew_ = std::make_unique<Crew>(
        static_cast<int>(hosts.size()),
        [&](int rank) -> std::string {
          const auto index = static_cast<std::size_t>(rank);
          if (const Status status = lab.enter(hosts[index]); !status) return spoken(status);
          for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
          stderrs_[index]->capture();
          return life(rank, letter_);
        },
        options.seconds_max);
  }

  // A rank's own start: rank 0 makes the identifier, the others wait for it.
  static Result<Communicator> meet(Rank rank, Rank size, const Letter& letter, const JobOptions& options = {}) {
    if (rank == 0) {
      const auto identifier = Identifier::create();
      letter.write(identifier ? identifier->text() : "none");
      if (!identifier) return identifier.status();
    }
    return join(rank, size, letter.read(), options);
  }
  static Result<Communicator> join(Rank rank, Rank size, const std::string& text, const JobOptions& options = {}) {
    return Communicator::create({.rank = rank,
                                 .size = size,
                                 .store = "tcp:" + text,
                                 .start_timeout = options.times.start,
                                 .timeout = options.times.call,
                                 .algorithm = options.algorithm});
  }

  Crew& crew() { return *crew_; }
  pid_t pid(Rank rank) const { return crew_->pid(rank); }
  std::string log(Rank rank) const { return stderrs_[static_cast<std::size_t>(rank)]->text(); }
  std::string logs() const {
    std::string all;
    for (std::size_t rank = 0; rank < stderrs_.size(); ++rank) {
      if (const std::string text = stderrs_[rank]->text(); !text.empty()) all += fmt::format("[{}] {}", rank, text);
    }
    return all;
  }
  std::vector<std::string> finish(std::chrono::nanoseconds limit = std::chrono::seconds(60)) {
    return crew_->finish(limit);
  }
  void expect_success(std::chrono::nanoseconds limit = std::chrono::seconds(60)) {
    for (const std::string& text : finish(limit)) EXPECT_EQ(text, "") << logs();
  }

 private:
  Letter letter_;
  std::vector<std::unique_ptr<Stderr>> stderrs_;
  std::unique_ptr<Crew> crew_;
};

// Tests that need virtual hosts.
class OnHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status status = Lab::is_possible(); !status) GTEST_SKIP() << status.text();
  }
  static Lab create(const LabOptions& options = {}) {
    auto lab = Lab::create(options);
    if (!lab) ADD_FAILURE() << lab.status().text();
    if (!lab) std::abort();
    return *std::move(lab);
  }
};

inline void expect_in(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

}  // namespace tutti::network
