#include "nccl/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "nccl/adapter_list.h"
#include "nccl/environment_table.h"
#include "nccl/settings_file.h"

namespace tutti::nccl {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

KnobLookup lookup_in(const Variables& variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

const std::vector<std::string> kAdapters = {"mlx5_0:1", "mlx5_1:1", "mlx5_1:2", "mlx5_10:1"};

Result<Environment> read(const Variables& variables) { return read_environment(lookup_in(variables), kAdapters); }

// "TUTTI_TRANSPORT=tcp" for each.
std::vector<std::string> consequences_of(const Variables& variables) {
  const auto environment = read(variables);
  EXPECT_TRUE(environment) << environment.status().text();
  std::vector<std::string> texts;
  if (!environment) return texts;
  for (const Consequence& each : environment->consequences) texts.push_back(std::string(each.name) + "=" + each.value);
  return texts;
}

std::vector<std::string> remarks_on(const Variables& variables) {
  std::vector<std::string> names;
  for (const auto& [name, value] : variables) names.push_back(name);
  return remarks(lookup_in(variables), names);
}

using Texts = std::vector<std::string>;

TEST(EnvironmentTable, HasEveryAliasOfASettingAndNoOther) {
  std::set<std::string_view> aliases;
  for (const Knob& knob : all_knobs()) {
    if (!knob.alias.empty()) aliases.insert(knob.alias);
  }
  std::set<std::string_view> rows;
  for (const Variable& variable : variables()) {
    if (variable.standing == Standing::knob) rows.insert(variable.name);
    EXPECT_EQ(variable.remark.empty(), variable.standing == Standing::knob) << variable.name;
    EXPECT_FALSE(variable.remark.ends_with('.')) << variable.name;
  }
  EXPECT_EQ(rows, aliases);
  EXPECT_GE(variables().size(), 120u);
}

TEST(Environment, WithoutVariablesSaysNothing) {
  const auto environment = read({});
  ASSERT_TRUE(environment);
  EXPECT_TRUE(environment->allowed.empty());
  EXPECT_EQ(environment->meeting_address, "");
  EXPECT_EQ(environment->is_blocking, std::nullopt);
  EXPECT_TRUE(environment->consequences.empty());
  EXPECT_TRUE(remarks_on({}).empty());
}

TEST(Environment, InfiniBandCanBeSwitchedOff) {
  EXPECT_EQ(consequences_of({{"NCCL_IB_DISABLE", "1"}}), Texts{"TUTTI_TRANSPORT=tcp"});
  EXPECT_EQ(consequences_of({{"NCCL_IB_DISABLE", "0"}}), Texts{});
  EXPECT_EQ(consequences_of({{"NCCL_NET", "socket"}}), Texts{"TUTTI_TRANSPORT=tcp"});
  EXPECT_EQ(consequences_of({{"NCCL_NET", "IB"}}), Texts{"TUTTI_TRANSPORT=ucx"});
  EXPECT_EQ(consequences_of({{"NCCL_NET", "IB"}, {"NCCL_IB_DISABLE", "1"}}), Texts{"TUTTI_TRANSPORT=tcp"});
  EXPECT_EQ(consequences_of({{"NCCL_NET", "AWS Libfabric"}}), Texts{});
}

TEST(Environment, SocketsAreThreadsTimesSockets) {
  EXPECT_EQ(consequences_of({{"NCCL_SOCKET_NTHREADS", "4"}}), Texts{"TUTTI_SOCKETS_PER_PEER=4"});
  EXPECT_EQ(consequences_of({{"NCCL_SOCKET_NTHREADS", "4"}, {"NCCL_NSOCKS_PERTHREAD", "2"}}),
            Texts{"TUTTI_SOCKETS_PER_PEER=8"});
  EXPECT_EQ(consequences_of({{"NCCL_SOCKET_NTHREADS", "16"}, {"NCCL_NSOCKS_PERTHREAD", "16"}}),
            Texts{"TUTTI_SOCKETS_PER_PEER=64"});
}

TEST(Environment, AdaptersGoToUcx) {
  EXPECT_EQ(consequences_of({{"NCCL_IB_HCA", "=mlx5_1:2,mlx5_0"}}), Texts{"UCX_NET_DEVICES=mlx5_0:1,mlx5_1:2"});
  EXPECT_EQ(consequences_of({{"NCCL_IB_HCA", "bnxt"}}), Texts{}) << "none would be left";
  EXPECT_EQ(consequences_of({{"NCCL_IB_GID_INDEX", "3"}, {"NCCL_IB_TC", "-1"}}), Texts{"UCX_IB_GID_INDEX=3"});
}

TEST(AdapterList, TakesPrefixesExactNamesAndAllBut) {
  EXPECT_EQ(ucx_devices_of("mlx5_1", kAdapters), "mlx5_1:1,mlx5_1:2,mlx5_10:1");
  EXPECT_EQ(ucx_devices_of("=mlx5_1", kAdapters), "mlx5_1:1,mlx5_1:2");
  EXPECT_EQ(ucx_devices_of("^=mlx5_1", kAdapters), "mlx5_0:1,mlx5_10:1");
  EXPECT_EQ(ucx_devices_of("^mlx5_1", kAdapters), "mlx5_0:1");
  EXPECT_EQ(ucx_devices_of("=mlx5_1::0:0", kAdapters), "mlx5_1:1,mlx5_1:2");
}

TEST(Environment, TellsCommunicatorsWhatTheyMayUse) {
  const auto environment = read({{"NCCL_ALGO", "allreduce:tree"}, {"NCCL_COMM_BLOCKING", "0"}});
  ASSERT_TRUE(environment) << environment.status().text();
  CommunicatorOptions options;
  apply(*environment, options);
  ASSERT_EQ(options.allowed.size(), 1u);
  EXPECT_EQ(options.allowed_by, "NCCL_ALGO=allreduce:tree");
  EXPECT_EQ(environment->is_blocking, false);
}

TEST(Environment, BadValuesAreNamedTogether) {
  EXPECT_EQ(read({{"NCCL_ALGO", "Rign"}, {"NCCL_PROTO", "LL"}, {"NCCL_COMM_BLOCKING", "maybe"}}).status().text(),
            "NCCL_ALGO: 'Rign' is not known; it takes Tree, Ring, CollnetDirect, CollnetChain, NVLS, NVLSTree, PAT, "
            "with ^ in front of all for all but these; NCCL_COMM_BLOCKING: 'maybe' is not a whole number from 0 to 1");
}

TEST(Remarks, SayWhatHasNoMeaningAndWhy) {
  EXPECT_EQ(remarks_on({{"NCCL_BUFFSIZE", "1"}, {"NCCL_DEBUG", "INFO"}}),
            Texts{"NCCL_BUFFSIZE has no meaning here: the planner sizes pipes and pieces by itself"});
}

TEST(Remarks, SayWhatFollowsUnlessOurNameCounts) {
  EXPECT_EQ(remarks_on({{"NCCL_IB_DISABLE", "1"}}), Texts{"NCCL_IB_DISABLE='1' is TUTTI_TRANSPORT=tcp"});
  EXPECT_EQ(remarks_on({{"NCCL_IB_DISABLE", "1"}, {"TUTTI_TRANSPORT", "ucx"}}),
            Texts{"TUTTI_TRANSPORT='ucx' counts, NCCL_IB_DISABLE='1' does not"});
}

TEST(Remarks, NameTheNearestOfAnUnknownName) {
  EXPECT_EQ(remarks_on({{"NCCL_SOCKET_IFNAMES", "eth0"}, {"NCCL_TESTS_DEVICE", "0"}, {"NCCL_VERSION", "2"}}),
            Texts{"NCCL_SOCKET_IFNAMES is no variable of NCCL that is known here, did you mean "
                  "'NCCL_SOCKET_IFNAME'?"});
}

TEST(SettingsFile, HasLinesOfNamesAndValuesAndComments) {
  const auto settings =
      parse_settings("# all hosts\nNCCL_DEBUG=WARN\n  NCCL_SOCKET_IFNAME = eth,ib # both\n\nrest\n=1\n");
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_EQ(settings[0].name, "NCCL_DEBUG");
  EXPECT_EQ(settings[0].value, "WARN");
  EXPECT_EQ(settings[1].name, "NCCL_SOCKET_IFNAME");
  EXPECT_EQ(settings[1].value, "eth,ib");
}

TEST(SettingsFile, TheUsersCountsBeforeTheMachines) {
  EXPECT_EQ(settings_files(lookup_in({{"HOME", "/home/a"}})), (Texts{"/home/a/.nccl.conf", "/etc/nccl.conf"}));
  EXPECT_EQ(settings_files(lookup_in({{"HOME", "/home/a"}, {"NCCL_CONF_FILE", "my.conf"}})),
            (Texts{"my.conf", "/etc/nccl.conf"}));
  EXPECT_TRUE(read_settings("/no/such/file").empty());
}

}  // namespace
}  // namespace tutti::nccl
