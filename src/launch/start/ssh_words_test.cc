#include "launch/start/ssh_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace tutti::launch {
namespace {

using Words = std::vector<std::string>;
using namespace std::chrono_literals;

// What a shell makes of a line: its words, each between brackets.
std::string taken_apart(const std::string& line) {
  const std::string script = "for word in " + line + "; do printf '[%s]' \"$word\"; done";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(script.c_str(), "r"), ::pclose);
  std::string text;
  for (int letter = std::fgetc(pipe.get()); letter != EOF; letter = std::fgetc(pipe.get()))
    text += static_cast<char>(letter);
  return text;
}

TEST(Quoted, SurvivesAShell) {
  const Words words{"plain", "",   "a b", "it's", "$HOME", "`id`",  "a\nb", "*",
                    "\\",    "\"", "~",   "!x",   "-n",    "{a,b}", "#"};
  std::string expected;
  for (const std::string& word : words) expected += "[" + word + "]";
  EXPECT_EQ(taken_apart(quoted(words)), expected);
}

TEST(Quoted, LeavesPlainWordsAsTheyAre) {
  EXPECT_EQ(quoted(Words{"/opt/tutti/bin/tutti", "agent", "--host", "3"}), "/opt/tutti/bin/tutti agent --host 3");
}

TEST(SshWords, AskNothingAndEndWithHostAndCommand) {
  const Words words = ssh_words({}, 60s, "user@gpu1", Words{"/my tools/tutti", "agent"});
  EXPECT_EQ(words.front(), "ssh");
  EXPECT_NE(std::ranges::find(words, "BatchMode=yes"), words.end());
  EXPECT_NE(std::ranges::find(words, "ConnectTimeout=60"), words.end());
  EXPECT_NE(std::ranges::find(words, "ServerAliveInterval=10"), words.end());
  const Words tail(words.end() - 3, words.end());
  EXPECT_EQ(tail, (Words{"--", "user@gpu1", "'/my tools/tutti' agent"}));
}

TEST(SshWords, HaveTheUsersPortIdentityJumpAndOptions) {
  const SshSettings settings{.program = "/usr/bin/ssh",
                             .port = 2222,
                             .identity = "/keys/id",
                             .jump = "bastion",
                             .options = {"StrictHostKeyChecking=no", "BatchMode=no"}};
  const Words words = ssh_words(settings, 5s, "gpu1", Words{"tutti"});
  const auto has = [&](const Words& wanted) {
    return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
  };
  EXPECT_EQ(words.front(), "/usr/bin/ssh");
  EXPECT_TRUE(has({"-p", "2222"}));
  EXPECT_TRUE(has({"-i", "/keys/id"}));
  EXPECT_TRUE(has({"-J", "bastion"}));
  EXPECT_TRUE(has({"-o", "StrictHostKeyChecking=no"}));
  // ssh takes the first of several, which is the user's.
  EXPECT_LT(std::ranges::find(words, "BatchMode=no"), std::ranges::find(words, "BatchMode=yes"));
}

TEST(SshWords, NeverTakeAHostForAnOption) {
  const Words words = ssh_words({}, 5s, "-oProxyCommand=evil", Words{"tutti"});
  const auto host = std::ranges::find(words, "-oProxyCommand=evil");
  ASSERT_NE(host, words.end());
  EXPECT_EQ(*(host - 1), "--");
}

TEST(BareName, IsWithoutTheUser) {
  EXPECT_EQ(bare_name("gpu1"), "gpu1");
  EXPECT_EQ(bare_name("user@10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(bare_name("user@realm@gpu1"), "gpu1");
}

}  // namespace
}  // namespace tutti::launch
