#include "bootstrap/env/pmi_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "bootstrap/env/pmi_message.h"
#include "bootstrap/store/place_for_test.h"
#include "os/file_descriptor.h"

namespace tutti::bootstrap {
namespace {

// A launcher of so many processes, with a thread for each.
class Launcher {
 public:
  explicit Launcher(int size, std::size_t value_bytes_max = 1024) : value_bytes_max_(value_bytes_max) {
    for (int rank = 0; rank < size; ++rank) {
      std::array<int, 2> ends{};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
      theirs_.emplace_back(ends[0]);
      ours_.emplace_back(ends[1]);
    }
    for (const os::FileDescriptor& end : ours_) threads_.emplace_back([this, &end] { serve(end.get()); });
  }
  ~Launcher() {
    for (const os::FileDescriptor& end : theirs_) ::shutdown(end.get(), SHUT_RDWR);
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  int descriptor(Rank rank) const { return theirs_[static_cast<std::size_t>(rank)].get(); }
  int finalized() {
    const std::lock_guard lock(mutex_);
    return finalized_;
  }
  std::size_t longest_value() const { return longest_value_; }
  void answer_with(std::string command, std::string line) { answers_[std::move(command)] = std::move(line); }

 private:
  void serve(int end) {
    std::string heard;
    std::array<char, 256> space{};
    for (ssize_t count = 0; (count = ::recv(end, space.data(), space.size(), 0)) > 0;) {
      heard.append(space.data(), static_cast<std::size_t>(count));
      for (std::size_t stop = 0; (stop = heard.find('\n')) != std::string::npos; heard.erase(0, stop + 1)) {
        const auto message = parse_pmi(std::string_view(heard).substr(0, stop));
        const std::string answer = message ? answer_to(*message) : "cmd=what\n";
        if (::send(end, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
      }
    }
  }

  std::string answer_to(const PmiMessage& message) {
    std::unique_lock lock(mutex_);
    if (const auto found = answers_.find(message.command); found != answers_.end()) return found->second;
    if (message.command == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
    if (message.command == "get_maxes") return "cmd=maxes vallen_max=" + std::to_string(value_bytes_max_) + "\n";
    if (message.command == "get_my_kvsname") return "cmd=my_kvsname kvsname=space\n";
    if (message.command == "put") {
      longest_value_ = std::max(longest_value_, message.find("value")->size());
      values_[*message.find("key")] = *message.find("value");
      return "cmd=put_result rc=0 msg=success\n";
    }
    if (message.command == "get") {
      const auto found = values_.find(*message.find("key"));
      return found == values_.end() ? "cmd=get_result rc=-1 msg=not_found\n"
                                    : "cmd=get_result rc=0 value=" + found->second + "\n";
    }
    if (message.command == "barrier_in") {
      if (++arrived_ == ours_.size()) changed_.notify_all();
      changed_.wait(lock, [&] { return arrived_ == ours_.size() || is_over_; });
      return "cmd=barrier_out\n";
    }
    ++finalized_;
    return "cmd=finalize_ack\n";
  }

  const std::size_t value_bytes_max_;
  std::vector<os::FileDescriptor> theirs_;
  std::vector<os::FileDescriptor> ours_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> answers_ = {};  // instead of the right ones
  std::map<std::string, std::string> values_;
  std::size_t arrived_ = 0;
  std::size_t longest_value_ = 0;
  int finalized_ = 0;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

std::vector<std::string> texts_of_all(Launcher& launcher, int size, const std::string& text) {
  std::vector<std::string> texts(static_cast<std::size_t>(size));
  std::vector<std::thread> ranks;
  for (Rank rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto result = broadcast_by_pmi(launcher.descriptor(rank), rank, rank == 0 ? text : "", soon());
      texts[static_cast<std::size_t>(rank)] = result ? *result : std::string(result.status().text());
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return texts;
}

TEST(Pmi, GivesTheTextOfRank0ToAll) {
  Launcher launcher(4);
  EXPECT_EQ(texts_of_all(launcher, 4, "tutti1-abc="), std::vector<std::string>(4, "tutti1-abc="));
  EXPECT_EQ(launcher.finalized(), 4);
}

TEST(Pmi, SplitsWhatIsLongerThanAValue) {
  for (const std::size_t length : {0u, 1u, 29u, 30u, 31u, 300u, 2048u}) {
    Launcher launcher(2, 32);
    const std::string text(length, 'x');
    EXPECT_EQ(texts_of_all(launcher, 2, text), std::vector<std::string>(2, text)) << length;
    EXPECT_LT(launcher.longest_value(), 32u);
  }
}

TEST(Pmi, EndsInTimeWhereOthersDoNotCome) {
  Launcher launcher(2);
  const auto text = broadcast_by_pmi(launcher.descriptor(0), 0, "text", soon(std::chrono::milliseconds(50)));
  EXPECT_EQ(text.status().code(), Code::timed_out);
}

TEST(Pmi, SaysWhatTheLauncherDoesWrong) {
  const auto expect = [](const char* command, const char* answer, std::string_view why) {
    Launcher launcher(1);
    launcher.answer_with(command, answer);
    const auto text = broadcast_by_pmi(launcher.descriptor(0), 0, "text", soon());
    ASSERT_FALSE(text);
    EXPECT_NE(text.status().text().find(why), std::string_view::npos) << text.status().text();
  };
  expect("init", "cmd=response_to_init rc=1 msg=no_such_version\n", "refuses 'init' of PMI: no_such_version");
  expect("init", "hello\n", "which is not PMI-1");
  expect("get_maxes", "cmd=maxes\n", "has no 'vallen_max'");
  expect("get_maxes", "cmd=maxes vallen_max=3\n", "values have 3 bytes");
  expect("get_my_kvsname", "cmd=maxes\n", "answers 'get_my_kvsname' with 'maxes'");
  expect("put", "cmd=put_result rc=-1\n", "refuses 'put' of PMI: code -1");
}

TEST(Pmi, NoticesThatTheLauncherHasGone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const os::FileDescriptor own(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(broadcast_by_pmi(own.get(), 0, "text", soon()).status().code(), Code::peer_lost);
}

TEST(Pmi, NeedsASocket) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  EXPECT_TRUE(validate_pmi(ends[0]));
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_FALSE(validate_pmi(ends[0]));
  const os::FileDescriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(validate_pmi(file.get()).code(), Code::unsupported);
}

}  // namespace
}  // namespace tutti::bootstrap
