#include "launch/input_pump.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "os/clock.h"

namespace tutti::launch {
namespace {

using namespace std::chrono_literals;

class InputPumpTest : public testing::Test {
 protected:
  void SetUp() override {
    auto loop = os::EventLoop::create();
    ASSERT_TRUE(loop);
    loop_ = *std::move(loop);
  }
  InputPump::Target target() {
    return {.room = [this] { return room_ - got_.size(); },
            .give = [this](std::span<const std::byte> bytes) { got_ += text_of(bytes); },
            .end = [this] { ++ends_; }};
  }
  bool run_until(const std::function<bool()>& is_done, std::chrono::nanoseconds limit = 10s) {
    return loop_->run_until(is_done, Deadline::after(os::now(), limit));
  }

  std::unique_ptr<os::EventLoop> loop_;
  std::size_t room_ = std::size_t{1} << 30;
  std::string got_;
  int ends_ = 0;
};

os::FileDescriptor file_with(const std::string& text) {
  char name[] = "/tmp/tutti-input-XXXXXX";
  os::FileDescriptor file(::mkstemp(name));
  ::unlink(name);
  EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

TEST_F(InputPumpTest, ReadsFilesThatNoLoopCanWaitFor) {
  const std::string text(300'000, 'x');
  const os::FileDescriptor file = file_with(text);
  InputPump pump(*loop_, file.get(), target());
  pump.start();
  ASSERT_TRUE(run_until([&] { return ends_ > 0; }));
  EXPECT_EQ(got_, text);
  EXPECT_EQ(ends_, 1);
  EXPECT_TRUE(pump.has_ended());
}

TEST_F(InputPumpTest, EndsAtOnceForDevNull) {
  const os::FileDescriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  InputPump pump(*loop_, null.get(), target());
  pump.start();
  ASSERT_TRUE(run_until([&] { return ends_ > 0; }));
  EXPECT_EQ(got_, "");
}

TEST_F(InputPumpTest, ReadsPipesWithoutChangingThem) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const os::FileDescriptor reader(ends[0]);
  os::FileDescriptor writer(ends[1]);
  InputPump pump(*loop_, reader.get(), target());
  pump.start();
  ASSERT_EQ(::write(writer.get(), "one\n", 4), 4);
  ASSERT_TRUE(run_until([&] { return got_ == "one\n"; }));
  ASSERT_EQ(::write(writer.get(), "two\n", 4), 4);
  writer.close();
  ASSERT_TRUE(run_until([&] { return ends_ > 0; }));
  EXPECT_EQ(got_, "one\ntwo\n");
  EXPECT_EQ(::fcntl(reader.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(InputPumpTest, ReadsNoMoreThanThereIsRoomFor) {
  const os::FileDescriptor file = file_with(std::string(100'000, 'x'));
  room_ = 1000;
  InputPump pump(*loop_, file.get(), target());
  pump.start();
  ASSERT_TRUE(run_until([&] { return got_.size() == 1000; }));
  EXPECT_FALSE(run_until([&] { return got_.size() > 1000; }, 20ms));
  room_ = 100'000;
  pump.resume();
  ASSERT_TRUE(run_until([&] { return got_.size() == 100'000; }));
  EXPECT_EQ(ends_, 0);  // the end is looked for once there is room again
  room_ = 200'000;
  pump.resume();
  EXPECT_TRUE(run_until([&] { return ends_ == 1; }));
}

}  // namespace
}  // namespace tutti::launch
