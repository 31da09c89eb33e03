// Runs `tutti demo` and `tutti check`: processes that come and go.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/answer.h"

namespace tutti {
namespace {

// In a folder of its own for temporary files, of which the last line says how many are left.
Answer demo_in_own_folder(const std::string& script) {
  return shell("bash -c 'export TMPDIR=$(mktemp -d); " + script +
               "; code=$?; echo \"left $(ls -A $TMPDIR | wc -l)\"; rmdir $TMPDIR; exit $code'");
}

TEST(Demo, ShowsVerifiedSizesFromTheFirstToTheLast) {
  const Answer answer =
      demo_in_own_folder(std::string(TUTTI_COMMAND) + " demo --ranks 3 --bytes-min 8 --bytes-max 96K");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  for (const char* part : {"3 ranks as processes", "algbw (GB/s)", "busbw (GB/s)", "wrong  plan", "\n       8 B ",
                           "\n    96 KiB ", "left 0\n"}) {
    EXPECT_TRUE(contains(answer.text, part)) << part << "\n" << answer.text;
  }
  for (const std::string_view line : text::split(answer.text, '\n')) {
    const auto words = text::words(line);
    if (words.size() != 7 || !words[1].ends_with("B")) continue;
    EXPECT_EQ(words[5], "0") << line;
  }
}

TEST(Demo, RunsOnPrivateBuffersAndAlone) {
  for (const char* options : {"--ranks 2 --memory private", "--ranks 1"}) {
    const Answer answer = tutti(std::string("demo --bytes-min 4 --bytes-max 4K ") + options);
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    EXPECT_TRUE(contains(answer.text, "\n     4 KiB ")) << answer.text;
  }
}

TEST(Demo, SaysWhatIsWrongWithItsOptions) {
  expect_usage_error("demo --ranks 0", "--ranks 0 is not possible; 1 to 128 are");
  expect_usage_error("demo --bytes-max 7", "--bytes-max 7 is not a whole number of float32 elements of 4 bytes");
  expect_usage_error("demo --bytes-min 1M --bytes-max 1K", "--bytes-min 1 MiB is more than --bytes-max 1 KiB");
  expect_usage_error("demo --memory privat", "did you mean 'private'?");
}

// Waits until a rank has printed the heading, so that all of them have met, then does something to them. $ranks are
// their ids.
std::string demo_and(const std::string& action) {
  return "log=$(mktemp -p /tmp); " + std::string(TUTTI_COMMAND) +
         " demo > $log 2>&1 & demo=$!; while [ ! -s $log ] && kill -0 $demo; do :; done; read -a ranks < "
         "/proc/$demo/task/$demo/children; " +
         action +
         "; wait $demo; code=$?; cat $log; rm $log; for rank in ${ranks[@]}; do kill -0 $rank && echo survives; done "
         "2> /dev/null; (exit $code)";
}

TEST(Demo, ARankThatIsKilledFailsItAndIsNamed) {
  const Answer answer = demo_in_own_folder(demo_and("kill -KILL ${ranks[3]}"));
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  EXPECT_TRUE(contains(answer.text, "rank 3 was killed by signal 9")) << answer.text;
  EXPECT_TRUE(contains(answer.text, ", which has died")) << answer.text;
  EXPECT_FALSE(contains(answer.text, "survives")) << answer.text;
  EXPECT_TRUE(contains(answer.text, "left 0\n")) << answer.text;
}

TEST(Demo, ASignalEndsEveryRankAndLeavesNothing) {
  const Answer answer = demo_in_own_folder(demo_and("kill -TERM $demo"));
  EXPECT_EQ(answer.exit_code, 128 + 15) << answer.text;
  EXPECT_FALSE(contains(answer.text, "survives")) << answer.text;
  EXPECT_TRUE(contains(answer.text, "left 0\n")) << answer.text;
}

TEST(Check, SaysWhatThereIs) {
  const Answer answer = tutti("check");
  EXPECT_EQ(answer.exit_code, contains(answer.text, "MISSING") ? 1 : 0) << answer.text;
  for (const char* part : {"build", "settings", "arithmetic", "cores", "caches", "interfaces", "lo dropped: loopback",
                           "sleeping", "reading others", "processes", "shared memory"}) {
    EXPECT_TRUE(contains(answer.text, part)) << part << "\n" << answer.text;
  }
}

TEST(Check, SaysWhyInterfacesThatTheUserNamesCannotBeUsed) {
  const Answer answer = shell("TUTTI_SOCKET_IFNAME==nowhere " + std::string(TUTTI_COMMAND) + " check");
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  EXPECT_TRUE(contains(answer.text,
                       "MISSING  interfaces      TUTTI_SOCKET_IFNAME==nowhere matches no interface; there "
                       "are "))
      << answer.text;
}

TEST(Check, FailsWhereASettingIsBad) {
  const Answer answer = shell("TUTTI_SILENCE=long " + std::string(TUTTI_COMMAND) + " check");
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  EXPECT_TRUE(contains(answer.text, "MISSING  settings        TUTTI_SILENCE: 'long' is not a time")) << answer.text;
}

TEST(Check, FailsWhereSharedMemoryIsForbidden) {
  // No file may have a byte: so no memfd either. The shell's own output goes through a pipe.
  const Answer answer = shell("bash -c 'ulimit -f 0; " + std::string(TUTTI_COMMAND) + " check'");
  EXPECT_EQ(answer.exit_code, 1) << answer.text;
  EXPECT_TRUE(contains(answer.text, "MISSING  shared memory")) << answer.text;
}

}  // namespace
}  // namespace tutti
