#include "comm/watch/json.h"

#include <gtest/gtest.h>

#include "comm/watch/some_recording_for_test.h"

namespace tutti::comm::watch {
namespace {

TEST(RecordingJson, ComesBackAsItWas) {
  Recording recording = recording_of(1, 3, {done(1, 8), running(2, 8, 0)});
  recording.ended = Code::peer_lost;
  recording.reason = "rank 0 \"is\" gone\n";
  recording.calls.push_back(message(2, true, 4));
  const auto back = parse_recordings(json_of(recording));
  ASSERT_TRUE(back) << back.status().text();
  ASSERT_EQ(back->size(), 1u);
  EXPECT_EQ(json_of(back->front()), json_of(recording));
  EXPECT_EQ(back->front().calls[1].waits_for, 0);
  EXPECT_EQ(back->front().calls[2].text(), "send of 4 float32 to rank 2");
  EXPECT_EQ(back->front().ended, Code::peer_lost);
}

TEST(RecordingJson, TakesSeveralInAnArray) {
  const std::vector<Recording> two = {recording_of(0, 2, {}), recording_of(1, 2, {done(1, 8)})};
  const auto back = parse_recordings(json_of(two));
  ASSERT_TRUE(back) << back.status().text();
  EXPECT_EQ(json_of(*back), json_of(two));
}

TEST(RecordingJson, SaysWhatIsWrongWithIt) {
  const std::string good = json_of(recording_of(1, 3, {done(1, 8)}));
  const auto problem = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << good;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    const auto parsed = parse_recordings(text);
    return parsed ? "accepted" : std::string(parsed.status().text());
  };
  EXPECT_EQ(problem("{", "["), "the text is no JSON; it may have been cut off");
  EXPECT_EQ(problem("tutti-recording", "other"), "the recording is not of the format 'tutti-recording'");
  EXPECT_EQ(problem("\"version\": 1", "\"version\": 2"), "the recording has version 2, this tutti reads 1");
  EXPECT_EQ(problem("\"rank\": 1", "\"rank\": 3"), "the recording has a 'rank' that is no whole number from 0 to 2");
  EXPECT_EQ(problem("\"pid\": 101", "\"pid\": \"x\""),
            "the recording has a 'pid' that is no whole number from 0 to 2147483647");
  EXPECT_EQ(problem("\"done\"", "\"odd\""), "call 0 of the list has an unknown 'state'");
  EXPECT_EQ(problem("\"track\":\"collective\"", "\"track\":7"), "call 0 of the list has a 'track' that is no text");
  EXPECT_EQ(problem("\"calls\": [", "\"cells\": ["), "the recording has no 'calls'");
}

TEST(RecordingJson, RefusesEveryBeginningOfARecording) {
  const std::string good = json_of(recording_of(1, 3, {done(1, 8), running(2, 8, 0)}));
  for (std::size_t bytes = 0; bytes + 2 < good.size(); ++bytes) {
    EXPECT_FALSE(parse_recordings(good.substr(0, bytes))) << bytes;
  }
  for (const char* text : {"null", "1", "\"x\"", "[1]", "[[[[]]]]", "{}", "{\"format\": {}}"}) {
    EXPECT_FALSE(parse_recordings(text)) << text;
  }
}

}  // namespace
}  // namespace tutti::comm::watch
