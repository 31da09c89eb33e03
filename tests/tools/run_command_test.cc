// Runs `tutti run --dry-run` and looks at what a person would see.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "tests/tools/answer.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

// Nothing of whoever runs the tests: an allocation of Slurm would be used.
std::string clean(const std::string& variables = "") { return "env -i PATH=/usr/bin:/bin " + variables + " "; }

Answer run(const std::string& arguments, const std::string& variables = "") {
  return shell(clean(variables) + TUTTI_COMMAND + " run --dry-run " + arguments);
}

void expect_shows(const std::string& arguments, const std::vector<std::string>& parts,
                  const std::string& variables = "") {
  const Answer answer = run(arguments, variables);
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  for (const std::string& part : parts) EXPECT_TRUE(contains(answer.text, part)) << part << " in\n" << answer.text;
}

void expect_refused(const std::string& arguments, std::string_view part, const std::string& variables = "") {
  const Answer answer = run(arguments, variables);
  EXPECT_EQ(answer.exit_code, 2) << arguments << ": " << answer.text;
  EXPECT_TRUE(contains(answer.text, part)) << arguments << ": " << answer.text;
  EXPECT_EQ(text::split(answer.text, '\n').size(), 2u) << "one sentence on one line: " << answer.text;
}

class Run : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tutti-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string file(const std::string& name, std::string_view text) const {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }
  std::string folder;
};

TEST_F(Run, AsksForRanksOrHosts) { expect_refused("./program", "say how many ranks to start with -np N"); }

TEST_F(Run, AsksForAProgram) { expect_refused("-np 2", "no program is given"); }

TEST_F(Run, StartsRanksHere) {
  expect_shows("-np 2 ./program --np 3 'two words'",
               {"2 ranks on 1 host, on this host:\n  ./program --np 3 'two words'\n", "localhost: ranks 0 and 1\n",
                " agent --host 0 --ports 3 --silence 30\n", "  WORLD_SIZE=2\n", "rank 1 has\n  TUTTI_RANK=1\n",
                "TUTTI_STORE=tcp:<secret>", "MASTER_PORT=<free port>"});
}

TEST_F(Run, LeavesWhatFollowsTheProgramToTheProgram) {
  expect_shows("-n 1 prog -np 7 --hosts x -- [a,b] -H", {"  prog -np 7 --hosts x -- '[a,b]' -H\n"});
  expect_shows("-n 1 -- --prog -x", {"  --prog -x\n"});
  expect_shows("--np=1 --env A=1 prog", {"  prog\n"});
  expect_shows("-n1 prog", {"1 rank on 1 host"});
}

TEST_F(Run, TakesTheNumberOfRanksInEveryForm) {
  for (const char* form : {"-n 3", "-np 3", "--np 3", "--np=3", "-N 3", "-ppn 3", "--np-per-node 3"}) {
    expect_shows(std::string(form) + " prog", {"3 ranks on 1 host"});
  }
}

TEST_F(Run, ReachesOtherHostsOverSsh) {
  expect_shows(
      "-H a:2,b:1 --agent-path /opt/tutti -p 2222 -i key --ssh-option StrictHostKeyChecking=no --jump bastion "
      "prog",
      {"3 ranks on 2 hosts, over ssh:", "a: ranks 0 and 1\n", "b: rank 2\n", "-p 2222", "-i key",
       "-o StrictHostKeyChecking=no", "-J bastion", "-- a '/opt/tutti agent --host 0 --ports 3 --silence 30'",
       "MASTER_ADDR=<address of a>"});
}

TEST_F(Run, ShowsTheTreeInWhichHostsStartEachOther) {
  expect_shows("-H h[1-6] --tree-width 2 prog", {"\nh1: rank 0\n", "\n  h"});
  EXPECT_FALSE(contains(run("-H h[1-6] --tree-width 0 prog").text, "\n  h2: "));
}

TEST_F(Run, StaysHereWhereAllHostsAreThisOne) {
  expect_shows("-H localhost:2 prog", {"on this host"});
  expect_shows("-H 127.0.0.1:1,localhost:1 prog", {"on this host"});
  expect_refused("-H a:2 --launcher local prog", "but a is named");
  expect_shows("-H a:2 --launcher ssh prog", {"over ssh"});
}

TEST_F(Run, ReadsHostFiles) {
  const std::string path = file("hosts", "a slots=2\nb:3\n");
  expect_shows("--hostfile " + path + " prog", {"5 ranks on 2 hosts"});
  expect_shows("-machinefile " + path + " -N 2 prog", {"4 ranks on 2 hosts"});
  expect_shows("--hostfile " + path + " --nnodes 1 prog", {"2 ranks on 1 host"});
  expect_refused("--hostfile " + path + " -H a prog", "-H and --hostfile both name hosts");
  expect_refused("--hostfile " + folder + "/none prog", "No such file");
  expect_refused("--hostfile " + file("bad", "a\n-b\n") + " prog", "bad: line 2: '-b' is no name of a host");
}

TEST_F(Run, SaysWhichNumbersDoNotFit) {
  expect_refused("-np 9 -H a:4,b:4 prog", "9 ranks are wanted, but 2 hosts have only 8 slots");
  expect_shows("-np 9 --oversubscribe -H a:4,b:4 prog", {"9 ranks on 2 hosts", "a: ranks 0 to 4\n"});
  expect_refused("-np 5 -N 2 --nnodes 2 -H a:4,b:4 prog", "are 4 ranks, but 5 were asked for");
  expect_refused("-H 'a;b' prog", "is no name of a host");
  expect_refused("-np 0 prog", "--np");
  expect_refused("-np 2 --only 0,2 prog", "--only 0,2 is no list of ranks from 0 to 1");
  expect_refused("-np 2 --tee prog", "--output names no folder");
  expect_refused("-np 2 --bind core --oversubscribe prog", "leave one of them away");
  expect_refused("-np 2 --tag none --tag-output prog", "contradict each other");
  expect_refused("-np 2 --srun-option -v prog", "only inside an allocation of Slurm");
  expect_refused("-np 2 --min-np 3 prog", "-np 2 is less than --min-np 3");
  expect_refused("--min-np 3 --max-np 2 prog", "--max-np 2 is less than --min-np 3");
  expect_refused("-np 2 --blacklist-cooldown-range 1 2 prog", "give --min-np as well");
  expect_refused("--min-np 2 --blacklist-cooldown-range 5 2 prog", "goes backwards");
  expect_refused("-np 2 --name 'a b' prog", "is no name for a job");
  expect_refused("-np 2 --timeout soon prog", "'soon' is not a time");
  expect_refused("-np 2 --launcher slurm prog", "needs an allocation of Slurm");
  expect_refused("-np 2 --frobnicate prog", "has no option '--frobnicate'");
  expect_refused("-np 2 --torchrun prog", "come first");
  expect_refused("-np 2 --bind cores prog", "did you mean 'core'?");
}

const char* const kAllocation =
    "SLURM_JOB_ID=7 SLURM_JOB_NODELIST=gpu[1-2] 'SLURM_TASKS_PER_NODE=4(x2)' SLURM_NTASKS=8";

TEST_F(Run, UsesAnAllocationOfSlurm) {
  expect_shows("prog", {"8 ranks on 2 hosts, by a step of Slurm", "gpu1: ranks 0 to 3\n", "srun", " agent --connect "},
               kAllocation);
  expect_shows("-np 3 --srun-option --mem=0 prog", {"3 ranks on 1 host", "--mem=0"}, kAllocation);
  expect_shows("-H gpu2:1 prog", {"1 rank on 1 host, by a step of Slurm"}, kAllocation);
  expect_shows("-H other:1 prog", {"over ssh"}, kAllocation);
  expect_refused("-H other:1 --launcher slurm prog", "some of the hosts are none", kAllocation);
  expect_refused("-p 22 prog", "options for ssh have no meaning", kAllocation);
}

TEST_F(Run, GivesRanksTheVariablesOfTheUser) {
  expect_shows("-np 1 --env MASTER_PORT=29500 prog",
               {"MASTER_ADDR=", "MASTER_PORT=29500\n", "  and 1 that are set here\n"});
  EXPECT_FALSE(contains(run("-np 1 --env MASTER_PORT=29500 prog").text, "MASTER_PORT=<free port>"));
  EXPECT_FALSE(contains(run("-np 1 -x MASTER_PORT prog", "MASTER_PORT=1").text, "MASTER_PORT=<free port>"));
  EXPECT_TRUE(contains(run("-np 1 prog", "MASTER_PORT=1").text, "MASTER_PORT=<free port>"));
  expect_refused("-np 1 -x NOT_SET prog", "variable NOT_SET is not set here");
  expect_refused("-np 1 --env 1A=2 prog", "is no variable");
  expect_refused("-np 1 --env-file " + file("env", "A=1\nwhat?\n") + " prog", "line 2");
}

TEST_F(Run, GrowsAndShrinks) {
  expect_shows("--min-np 2 --max-np 4 -H a:3 prog", {"3 ranks on 1 host"});
  expect_shows("--min-np 2 --host-discovery-script ./hosts.sh prog",
               {"2 to any number of ranks on the hosts that ./hosts.sh"});
}

class OtherNames : public Run {
 protected:
  static Answer call(const std::string& name, const std::string& arguments, const std::string& variables = "") {
    const std::string path = (fs::path(TUTTI_COMMAND).parent_path() / name).string();
    return shell(clean(variables) + path + " " + arguments);
  }
  static void expect_shows(const std::string& name, const std::string& arguments, const std::vector<std::string>& parts,
                           const std::string& variables = "") {
    const Answer answer = call(name, "--dry-run " + arguments, variables);
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    for (const std::string& part : parts) EXPECT_TRUE(contains(answer.text, part)) << part << " in\n" << answer.text;
  }
};

TEST_F(OtherNames, HorovodrunTakesItsFlags) {
  expect_shows("horovodrun", "-np 2 python train.py -np 3", {"2 ranks on 1 host", "  python train.py -np 3\n"});
  expect_shows("horovodrun", "-np 4 -H a:2,b:2 -p 22 -i key --start-timeout 30 --network-interface eth0 prog",
               {"4 ranks on 2 hosts, over ssh", "-p 22"});
  expect_shows("horovodrun", "--num-proc 2 -hostfile " + file("hosts", "a slots=2\n") + " prog", {"a: ranks 0 and 1"});
  expect_shows("horovodrun",
               "-np 1 --fusion-threshold-mb 32 --cycle-time-ms 3.5 --cache-capacity 10 --no-hierarchical-allreduce "
               "--autotune --autotune-log-file x --timeline-filename t.json --no-stall-check --log-level INFO "
               "--log-without-timestamp --thread-affinity 1 --num-nccl-streams 2 --tcp --disable-cache "
               "-prefix-timestamp --elastic-timeout 10 prog",
               {"1 rank on 1 host", "HOROVOD_FUSION_THRESHOLD=33554432\n", "HOROVOD_CYCLE_TIME=3.5\n",
                "HOROVOD_HIERARCHICAL_ALLREDUCE=0\n", "HOROVOD_AUTOTUNE=1\n", "HOROVOD_TIMELINE=t.json\n",
                "HOROVOD_STALL_CHECK_DISABLE=1\n", "HOROVOD_LOG_HIDE_TIME=1\n", "NCCL_IB_DISABLE=1\n"});
  expect_shows("horovodrun", "-np 1 --mpi --mpi-args='-v' prog", {"--mpi has no meaning here", "--mpi-args has no"});
  EXPECT_EQ(call("horovodrun", "-np 2").exit_code, 2);
  EXPECT_TRUE(contains(call("horovodrun", "-np 2 --frob prog").text, "horovodrun has no option '--frob'"));
}

TEST_F(OtherNames, HorovodrunReadsItsConfiguration) {
  const std::string path = file("config.yaml",
                                "# tuning\ncontroller: gloo\nparams:\n  fusion_threshold_mb: 32  # half\n"
                                "  hierarchical_allreduce: false\nlogging:\n  level: 'INFO'\n  hide_timestamp: true\n");
  expect_shows("horovodrun", "-np 1 --config-file " + path + " prog",
               {"--gloo has no meaning here", "HOROVOD_FUSION_THRESHOLD=33554432\n", "HOROVOD_LOG_LEVEL=INFO\n",
                "HOROVOD_HIERARCHICAL_ALLREDUCE=0\n", "HOROVOD_LOG_HIDE_TIME=1\n"});
  expect_shows("horovodrun", "-np 1 --fusion-threshold-mb 1 --config-file " + path + " prog",
               {"HOROVOD_FUSION_THRESHOLD=1048576\n"});
  const Answer wrong = call("horovodrun", "-np 1 --config-file " + file("bad", "params:\n  - x\n") + " prog");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.text, "line 2: '- x' is no 'key: value'")) << wrong.text;
  const Answer unknown = call("horovodrun", "-np 1 --config-file " + file("odd", "params:\n  colour: red\n") + " prog");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.text, "--colour")) << unknown.text;
}

TEST_F(OtherNames, TorchrunStartsPython) {
  const std::string python = "PYTHON_EXEC=python3";
  expect_shows("torchrun", "--nproc_per_node 2 train.py --nproc_per_node 5",
               {"2 ranks on 1 host", "  python3 -u train.py --nproc_per_node 5\n"}, python);
  expect_shows("torchrun", "--standalone --nnodes=1 --nproc-per-node=3 -m package.module x",
               {"3 ranks", "  python3 -u -m package.module x\n"}, python);
  expect_shows("torchrun", "--no-python ./prog", {"1 rank on 1 host", "  ./prog\n"});
  expect_shows("torchrun", "--nnodes 2 --nproc-per-node 2 -H a,b --master-port 29500 train.py",
               {"4 ranks on 2 hosts, over ssh"}, python);
  expect_shows("torchrun", "--rdzv-backend c10d --rdzv-id job7 train.py",
               {"--rdzv-backend has no meaning here", "TORCHELASTIC_RUN_ID=job7"}, python);
  expect_shows("torchrun", "--nnodes 2 --nproc-per-node 4 train.py", {"8 ranks on 2 hosts, by a step of Slurm"},
               std::string(kAllocation));
}

TEST_F(OtherNames, TorchrunSaysHowToReachSeveralHosts) {
  const Answer answer = call("torchrun", "--nnodes 2 --nproc-per-node 2 train.py");
  EXPECT_EQ(answer.exit_code, 2);
  EXPECT_TRUE(contains(answer.text, "--nnodes 2 needs to know the hosts; name them with -H")) << answer.text;
  EXPECT_TRUE(contains(call("torchrun", "--node-rank 1 train.py").text, "run it once"));
  EXPECT_TRUE(contains(call("torchrun", "--nnodes 2:1 train.py").text, "is no number of hosts"));
  EXPECT_TRUE(contains(call("torchrun", "--nproc-per-node many train.py").text, "nor auto, gpu or cpu"));
  EXPECT_TRUE(contains(call("torchrun", "").text, "no script is given"));
}

TEST_F(OtherNames, CanBeChosenBehindRun) {
  const Answer answer =
      shell(clean() + TUTTI_COMMAND + " run --torchrun --dry-run --no-python --nproc-per-node 2 prog");
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_TRUE(contains(answer.text, "2 ranks on 1 host")) << answer.text;
}

}  // namespace
}  // namespace tutti
