// The labs with a real sshd and a real Slurm are what they seem: other tests stand on them.
#include <gtest/gtest.h>

#include "os/clock.h"
#include "tests/network/lab/slurm.h"
#include "tests/network/lab/ssh.h"

namespace tutti::lab {
namespace {

class SshLabTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status status = SshLab::is_possible(); !status) GTEST_SKIP() << status.text();
    auto lab = SshLab::create(3);
    ASSERT_TRUE(lab) << lab.status().text();
    lab_ = *std::move(lab);
  }
  std::unique_ptr<SshLab> lab_;
};

TEST_F(SshLabTest, EveryHostReachesEveryOtherWithoutAPassword) {
  EXPECT_EQ(lab_->run({"ssh", "host1", "ssh host2 hostname; hostname"}).output, "host2\nhost1\n");
  EXPECT_EQ(lab_->run({"ssh", "host2", "ssh host0 hostname"}).output, "host0\n");
  EXPECT_TRUE(lab_->is_quiet(kGrace));
}

TEST_F(SshLabTest, AForeignKeyAStoppedDaemonAndAnUnknownHostAreRefused) {
  const Ending foreign = lab_->run({"ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o",
                                    "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-i",
                                    lab_->foreign_key(), "host1", "hostname"});
  EXPECT_EQ(foreign.exit_code, 255);
  EXPECT_NE(foreign.output.find("Permission denied"), std::string::npos) << foreign.output;
  lab_->stop_daemon(1);
  const Ending refused = lab_->run({"ssh", "host1", "hostname"});
  EXPECT_NE(refused.output.find("Connection refused"), std::string::npos) << refused.output;
  ASSERT_TRUE(lab_->start_daemon(1));
  EXPECT_EQ(lab_->run({"ssh", "host1", "hostname"}).output, "host1\n");
  EXPECT_NE(lab_->run({"ssh", "host7", "hostname"}).exit_code, 0);
}

TEST_F(SshLabTest, HostsHaveARunOfTheirOwnAndShareTheRest) {
  EXPECT_EQ(lab_->run({"ssh", "host1", "echo mine > /run/note; echo ours > " + lab_->folder().file("note")}).output,
            "");
  EXPECT_EQ(lab_->run({"sh", "-c", "cat /run/note 2> /dev/null || cat note"}).output, "ours\n");
}

TEST_F(SshLabTest, AHostWithoutPowerSaysNothingUntilItIsBack) {
  auto session = lab_->start(0, {"ssh", "host1", "sleep 1000"});
  ASSERT_TRUE(session) << session.status().text();
  EXPECT_FALSE(session->wait(kLook));
  ASSERT_TRUE(lab_->power_off(1));
  EXPECT_TRUE(processes_on(lab_->lab().keeper(1)).empty());
  EXPECT_FALSE(session->wait(kLook)) << session->output();
  ASSERT_TRUE(lab_->power_on(1));
  EXPECT_EQ(lab_->run({"ssh", "host1", "hostname"}).output, "host1\n");
}

TEST(SlurmLab, GivesPartitionsGpusAndBatchJobs) {
  if (const Status status = Slurm::is_possible(); !status) GTEST_SKIP() << status.text();
  const auto created = Slurm::create({.host_count = 3, .partitions = {"all", "gtest"}, .gpus_per_host = 4});
  ASSERT_TRUE(created) << created.status().text();
  Slurm& slurm = **created;

  const auto job = slurm.submit(R"(#!/bin/bash
#SBATCH -J lab
#SBATCH -p gtest
#SBATCH -N 2
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:2
#SBATCH -o %x.o%j
srun -l sh -c 'echo "$(hostname) has $CUDA_VISIBLE_DEVICES"' | sort
exit 3
)");
  ASSERT_TRUE(job) << job.status().text();
  const auto ending = slurm.await(*job, kLimit);
  ASSERT_TRUE(ending) << slurm.daemon_output();
  EXPECT_EQ(ending->state, "FAILED");
  EXPECT_EQ(ending->exit_code, 3);
  EXPECT_EQ(read_file(slurm.folder().file("lab.o" + std::to_string(*job))), "0: host0 has 0,1\n1: host1 has 0,1\n");
}

TEST(SlurmLab, AHostWithoutPowerRunsNothingAndComesBack) {
  if (const Status status = Slurm::is_possible(); !status) GTEST_SKIP() << status.text();
  const auto created = Slurm::create({.host_count = 2});
  ASSERT_TRUE(created) << created.status().text();
  Slurm& slurm = **created;
  const auto step = slurm.start({"srun", "-N2", "sleep", "1000"});
  ASSERT_TRUE(step) << step.status().text();
  const auto sleepers = [&] { return slurm.job_processes().size(); };
  const Deadline deadline = Deadline::after(os::now(), kLimit);
  while (sleepers() < 3 && !deadline.has_passed(os::now())) {  // srun, and two that it has started
  }
  ASSERT_TRUE(slurm.power_off(1));
  EXPECT_TRUE(processes_on(slurm.lab().keeper(1)).empty());
  EXPECT_GE(sleepers(), 2U);
  ASSERT_TRUE(slurm.power_on(1));
  const Ending again = slurm.run({"srun", "-N1", "-w", "host1", "hostname"});
  EXPECT_EQ(again.output, "host1\n");
}

}  // namespace
}  // namespace tutti::lab
