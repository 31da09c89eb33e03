#include "launch/start/explanation.h"

#include <gtest/gtest.h>

namespace tutti::launch {
namespace {

Parting of_ssh(int code, std::string complaints) {
  return {.way = Way::ssh,
          .host = "gpu1",
          .agent_path = "/opt/bin/tutti",
          .complaints = std::move(complaints),
          .end = os::ProcessEnd{.code = code}};
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Explanation, OfAMissingAgentNamesHostAndPath) {
  const auto text = explanation_of(of_ssh(127, "bash: line 1: /opt/bin/tutti: No such file or directory\n"));
  EXPECT_TRUE(has(text, "gpu1 has no tutti at /opt/bin/tutti; install it there or give --agent-path")) << text;
}

TEST(Explanation, OfSshHasItsLastWordsAndARemedy) {
  const auto unknown = explanation_of(of_ssh(255, "ssh: Could not resolve hostname gpu1: Name or service not known\n"));
  EXPECT_TRUE(has(unknown, "ssh cannot reach gpu1: ssh: Could not resolve hostname")) << unknown;
  EXPECT_TRUE(has(unknown, "; check the name")) << unknown;
  const auto denied = explanation_of(of_ssh(255, "banner\r\nuser@gpu1: Permission denied (publickey).\r\n\n"));
  EXPECT_TRUE(has(denied, "user@gpu1: Permission denied (publickey).; 'ssh gpu1 true' must work")) << denied;
  EXPECT_FALSE(has(denied, "banner")) << denied;
  const auto refused = explanation_of(of_ssh(255, "ssh: connect to host gpu1 port 22: Connection refused\n"));
  EXPECT_TRUE(has(refused, "is sshd running there")) << refused;
}

TEST(Explanation, OfABrokenConnectionSaysSo) {
  Parting parting = of_ssh(255, "Timeout, server gpu1 not responding.\r\n");
  parting.has_answered = true;
  EXPECT_EQ(explanation_of(parting), "the connection to gpu1 broke: Timeout, server gpu1 not responding.");
}

TEST(Explanation, OfAnAgentThatIsKilledNamesTheSignal) {
  const Parting parting{
      .way = Way::local, .host = "localhost", .has_answered = true, .end = os::ProcessEnd{.signal = 9}};
  EXPECT_EQ(explanation_of(parting), "the agent on localhost is gone: it was ended by signal 9");
}

TEST(Explanation, OfAShellThatPrintsOtherThingsQuotesThem) {
  Parting parting = of_ssh(1, "");
  parting.noise = "This account is not available.\n";
  EXPECT_TRUE(has(explanation_of(parting), "This account is not available.")) << explanation_of(parting);
}

TEST(LastLine, HasNothingThatSteersATerminal) {
  EXPECT_EQ(last_line("one\ntwo\x1b[31m\r\n\n"), "two [31m");
  EXPECT_EQ(last_line(""), "");
}

}  // namespace
}  // namespace tutti::launch
