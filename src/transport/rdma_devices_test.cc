#include "transport/rdma_devices.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace tutti::transport {
namespace {

// A folder like the kernel's.
class Sys {
 public:
  Sys() {
    std::string name = (std::filesystem::temp_directory_path() / "rdma.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Sys() { std::filesystem::remove_all(path_); }
  void add(const std::string& device, const std::string& port, const std::string& state) const {
    const auto folder = path_ / device / "ports" / port;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "state") << state << "\n";
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(RdmaDevices, AMachineWithoutThemHasNone) {
  EXPECT_TRUE(find_rdma_ports("/nowhere").empty());
  EXPECT_FALSE(has_active_port({}));
}

TEST(RdmaDevices, APortCountsWhenItIsActive) {
  const Sys sys;
  sys.add("mlx5_1", "1", "1: DOWN");
  EXPECT_FALSE(has_active_port(find_rdma_ports(sys.path())));
  sys.add("mlx5_0", "2", "4: ACTIVE");
  const auto ports = find_rdma_ports(sys.path());
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0].name, "mlx5_0:2");
  EXPECT_TRUE(ports[0].is_active);
  EXPECT_EQ(ports[1].name, "mlx5_1:1");
  EXPECT_FALSE(ports[1].is_active);
  EXPECT_TRUE(has_active_port(ports));
}

}  // namespace
}  // namespace tutti::transport
