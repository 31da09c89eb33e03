#include "os/cpu_places.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "os/cores.h"
#include "os/file_descriptor.h"
#include "os/free_ports.h"
#include "os/nvidia_devices.h"

namespace tutti::os {
namespace {

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    root = testing::TempDir() + "/places_XXXXXX";
    ASSERT_NE(::mkdtemp(root.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  std::string root;
};

TEST_F(Folder, CoresOfAllSocketsHaveTheirOwnNumbers) {
  // Two sockets of one core with two threads; both call their core 0.
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string folder = "cpu/cpu" + std::to_string(cpu) + "/topology";
    write(folder + "/physical_package_id", std::to_string(cpu % 2));
    write(folder + "/core_id", "0");
  }
  write("node/online", "0-1");
  write("node/node0/cpulist", "0,2");
  write("node/node1/cpulist", "1,3");
  const std::vector<int> cpus = {0, 1, 3};
  EXPECT_EQ(read_cpu_places(root, cpus), (std::vector<CpuPlace>{{.cpu = 0, .core = 0, .socket = 0, .numa = 0},
                                                                {.cpu = 1, .core = 1, .socket = 1, .numa = 1},
                                                                {.cpu = 3, .core = 1, .socket = 1, .numa = 1}}));
}

TEST_F(Folder, WithoutATopologyEachCpuIsACore) {
  const std::vector<int> cpus = {2, 5};
  EXPECT_EQ(read_cpu_places(root, cpus), (std::vector<CpuPlace>{{.cpu = 2, .core = 0}, {.cpu = 5, .core = 1}}));
}

TEST_F(Folder, GpusAreCountedByTheirNodesOrByTheDriver) {
  EXPECT_EQ(count_nvidia_devices(root + "/gpus", root + "/dev"), 0);
  write("gpus/0000:01:00.0/information", "");
  write("gpus/0000:02:00.0/information", "");
  EXPECT_EQ(count_nvidia_devices(root + "/gpus", root + "/dev"), 2);
  for (const char* node : {"dev/nvidia0", "dev/nvidiactl", "dev/nvidia-uvm", "dev/null"}) write(node, "");
  EXPECT_EQ(count_nvidia_devices(root + "/gpus", root + "/dev"), 1) << "a container has only its own";
}

TEST(CpuPlaces, AreThoseThatThisProcessMayUse) {
  std::vector<int> cpus;
  for (const CpuPlace& place : find_cpu_places()) cpus.push_back(place.cpu);
  EXPECT_EQ(cpus, allowed_cores());
  EXPECT_LE(usable_core_count(), static_cast<int>(cpus.size()));
}

TEST(FreePorts, DifferAndCanBeListenedAt) {
  const auto ports = find_free_ports(20);
  ASSERT_TRUE(ports) << ports.status().text();
  EXPECT_EQ(std::set(ports->begin(), ports->end()).size(), 20u);
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(ports->front());
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_TRUE(find_free_ports(0)->empty());
}

}  // namespace
}  // namespace tutti::os
