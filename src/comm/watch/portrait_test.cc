#include "comm/watch/portrait.h"

#include <gtest/gtest.h>

#include "comm/watch/late.h"
#include "os/clock.h"
#include "os/relax.h"

namespace tutti::comm::watch {
namespace {

TEST(Portrait, IsThereSoonAndTellsProgramAndPlace) {
#if defined(TUTTI_HAS_THREAD_SANITIZER)
  GTEST_SKIP() << "the thread sanitizer cannot follow a process that shares memory with its parent";
#endif
  Portrait portrait;
  EXPECT_EQ(portrait.look(), "") << "nobody waits for it";
  std::string text;
  const Deadline deadline = Deadline::after(os::now(), std::chrono::seconds(30));
  while (text.empty() && !deadline.has_passed(os::now())) {
    os::yield_core();
    text = portrait.look();
  }
  EXPECT_NE(text.find("comm_test ("), std::string::npos) << text;
  const bool has_place = text.find(", at ") != std::string::npos;
  EXPECT_TRUE(has_place || text.find("; no stack: cannot ") != std::string::npos) << text;
  EXPECT_EQ(portrait.look(), text) << "the next one who asks gets the same";
}

TEST(LateSentence, KeepsTheInnermostFramesAndSaysWhatItLeavesOut) {
  Activity activity{.program = "train", .state = os::ProcessState::sleeping, .wait_channel = "futex_wait"};
  for (int i = 0; i < 40; ++i) activity.stack.push_back("frame" + std::to_string(i) + " (train+0x10)");
  const std::string text = sentence_of(activity);
  EXPECT_TRUE(text.starts_with("train (sleeping in futex_wait), at frame0 < frame1 < ")) << text;
  EXPECT_TRUE(text.ends_with(" < ...")) << text;
  EXPECT_LE(text.size(), kSentenceBytesMax);
}

TEST(LateSentence, IsBoundedWhateverTheNamesAre) {
  Activity activity{.program = std::string(5000, 'p'), .stack = {std::string(100'000, 'x'), "main"}};
  EXPECT_LE(sentence_of(activity).size(), kSentenceBytesMax);
}

TEST(LateSentence, SaysWhyThereIsNoStack) {
  Activity activity{.program = "train"};
  activity.stack_note = "cannot trace process 7: Operation not permitted";
  EXPECT_NE(sentence_of(activity).find("no stack: cannot trace process 7"), std::string::npos);
}

}  // namespace
}  // namespace tutti::comm::watch
