#include "os/machine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "os/caches.h"
#include "os/control_group.h"
#include "os/entropy.h"

namespace tutti::os {
namespace {

// A folder of its own that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tutti-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const std::string& file, const std::string& text) const {
    const auto target = std::filesystem::path(path_) / file;
    std::filesystem::create_directories(target.parent_path());
    std::ofstream(target) << text << '\n';
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(ControlGroup, ThePathIsThatOfVersionTwo) {
  EXPECT_EQ(parse_group_path("5:cpu:/old\n0::/job/7\n"), "/job/7");
  EXPECT_EQ(parse_group_path("0::/"), "/");
  EXPECT_EQ(parse_group_path("5:cpu:/old\n"), std::nullopt);
  EXPECT_EQ(parse_group_path(""), std::nullopt);
}

TEST(ControlGroup, AQuotaIsAShareOfAPeriod) {
  EXPECT_EQ(parse_quota("150000 100000"), 1.5);
  for (const char* none : {"max 100000", "", "150000", "150000 0", "a b", "1 2 3", "-1 100000"})
    EXPECT_EQ(parse_quota(none), std::nullopt) << none;
}

TEST(ControlGroup, TheLeastQuotaOfTheGroupsAroundCounts) {
  const Folder folder;
  folder.write("job/cpu.max", "200000 100000");
  folder.write("job/7/cpu.max", "max 100000");
  folder.write("job/7/rank/cpu.max", "350000 100000");
  EXPECT_EQ(cpu_quota(folder.path(), "0::/job/7/rank\n"), 2.0);
  EXPECT_EQ(cpu_quota(folder.path(), "0::/other\n"), std::nullopt);
  folder.write("cpu.max", "50000 100000");
  EXPECT_EQ(cpu_quota(folder.path(), "0::/job/7/rank\n"), 0.5);
  EXPECT_EQ(cpu_quota(folder.path(), "0::/\n"), 0.5);
}

TEST(Caches, SizesAndListsAreReadAsTheKernelWritesThem) {
  EXPECT_EQ(parse_cache_size("32K"), 32u * 1024);
  EXPECT_EQ(parse_cache_size("260096K"), std::size_t{254} << 20);
  EXPECT_EQ(parse_cache_size(""), std::nullopt);
  EXPECT_EQ(count_of_list("0-3,8"), 5);
  EXPECT_EQ(count_of_list("0"), 1);
  EXPECT_EQ(count_of_list("no list"), 0);
}

TEST(Caches, AreReadFromTheFilesOfTheKernel) {
  const Folder folder;
  const auto cache = [&](int index, const char* level, const char* type, const char* size, const char* shared) {
    const std::string place = "cpu/cpu3/cache/index" + std::to_string(index);
    folder.write(place + "/level", level);
    folder.write(place + "/type", type);
    folder.write(place + "/size", size);
    folder.write(place + "/shared_cpu_list", shared);
  };
  cache(0, "1", "Data", "48K", "3,11");
  cache(1, "1", "Instruction", "32K", "3,11");
  cache(2, "2", "Unified", "2048K", "3,11");
  cache(3, "3", "Unified", "36864K", "0-15");
  folder.write("node/online", "0-1");
  const Caches caches = read_caches(folder.path(), 3);
  EXPECT_EQ(caches.l2_bytes, std::size_t{2} << 20);
  EXPECT_EQ(caches.last_bytes, std::size_t{36} << 20);
  EXPECT_EQ(caches.cores_of_last, 16);
  EXPECT_EQ(caches.numa_nodes, 2);
  EXPECT_EQ(read_caches(folder.path(), 4).last_bytes, 0u);
}

TEST(Machine, IsNotEmpty) {
  const Machine& machine = this_machine();
  EXPECT_GE(machine.usable_cores, 1);
  EXPECT_LE(machine.usable_cores, sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_GE(machine.cores_of_last_cache, 1);
  EXPECT_GE(machine.numa_nodes, 1);
  EXPECT_GE(machine.memory_bytes, std::size_t{1} << 26);
  EXPECT_FALSE(machine.host.empty());
  EXPECT_EQ(machine.boot_id.find('\n'), std::string::npos);
  EXPECT_GE(machine.cache_bytes_last, machine.cache_bytes_l2);
  EXPECT_EQ(&this_machine(), &machine);
}

TEST(Entropy, TwoDrawsDiffer) {
  std::array<std::byte, 32> first{};
  std::array<std::byte, 32> second{};
  ASSERT_TRUE(fill_random(first));
  ASSERT_TRUE(fill_random(second));
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace tutti::os
