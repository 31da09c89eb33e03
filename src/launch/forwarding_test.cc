#include "launch/forwarding.h"

#include <gtest/gtest.h>

#include "launch/variables.h"

namespace tutti::launch {
namespace {

const Variables kShell = {{"PATH", "/bin"},        {"HOME", "/root"},
                          {"SSH_CONNECTION", "x"}, {"RANK", "3"},
                          {"NCCL_DEBUG", "INFO"},  {"CUDA_VISIBLE_DEVICES", "0,1"},
                          {"SLURM_JOB_ID", "7"},   {"SLURM_PROCID", "0"},
                          {"PMIX_RANK", "0"},      {"BASH_FUNC_module%%", "() { :; }"}};

std::string names_of(const Variables& variables) {
  std::string names;
  for (const auto& [name, value] : variables) names += (names.empty() ? "" : " ") + name;
  return names;
}

TEST(Forwarding, LeavesOutThePlaceOfThisProcess) {
  EXPECT_EQ(names_of(forwarded(kShell, Starter::local)),
            "PATH HOME SSH_CONNECTION NCCL_DEBUG CUDA_VISIBLE_DEVICES SLURM_JOB_ID BASH_FUNC_module%%");
}

TEST(Forwarding, LeavesOutWhatIsOfThisHostForOthers) {
  EXPECT_EQ(names_of(forwarded(kShell, Starter::ssh)), "PATH NCCL_DEBUG CUDA_VISIBLE_DEVICES SLURM_JOB_ID");
}

TEST(Forwarding, LeavesToSlurmWhatSlurmSets) {
  EXPECT_EQ(names_of(forwarded(kShell, Starter::slurm)), "PATH NCCL_DEBUG");
}

TEST(Forwarding, LeavesOutEverythingThatRanksAreGiven) {
  const Layout layout{.hosts = {{"a", 1}}, .seats = {{}}};
  const WorldFacts facts{.job = "x", .store = "tcp:x", .hosts = {{.address = "a", .ports = {1, 2}}}};
  for (const auto& [name, value] : variables_of(layout, facts, layout.seats[0], {})) {
    if (name == "HOROVOD_CONTROLLER" || name == "HOROVOD_CPU_OPERATIONS") continue;  // a choice that users make
    EXPECT_NE(reason_to_keep(name, Starter::local), "") << name;
  }
}

TEST(Assignment, HasAValueOrPassesOneOn) {
  const auto given = parse_assignment("A=b=c", kShell);
  ASSERT_TRUE(given);
  EXPECT_EQ(*given, (std::pair<std::string, std::string>("A", "b=c")));
  const auto passed = parse_assignment("RANK", kShell);
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->second, "3");
  EXPECT_EQ(parse_assignment("A=", kShell)->second, "");
  EXPECT_FALSE(parse_assignment("NOT_SET", kShell));
  for (const char* wrong : {"", "=x", "1A=x", "A B=x", "A-B=x"}) EXPECT_FALSE(parse_assignment(wrong, kShell)) << wrong;
}

TEST(EnvironmentFile, HasAnAssignmentALine) {
  const auto variables = parse_environment_file("# ours\nA=1\n\nexport B=\"two words\"\nC='x'\r\nPATH\nA=2\n", kShell);
  ASSERT_TRUE(variables) << variables.status().text();
  EXPECT_EQ(*variables, (Variables{{"A", "2"}, {"B", "two words"}, {"C", "x"}, {"PATH", "/bin"}}));
  const auto wrong = parse_environment_file("A=1\nif x\n", kShell);
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.status().text().starts_with("line 2: 'if x' is no variable")) << wrong.status().text();
}

}  // namespace
}  // namespace tutti::launch
