#include "launch/elastic/discovery.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/clock.h"

namespace tutti::launch {
namespace {

using namespace std::chrono_literals;

TEST(ParseDiscovery, TakesHostsWithAndWithoutSlots) {
  const auto hosts = parse_discovery("gpu1:4\n gpu2 \n\ngpu1:2\n", 8);
  ASSERT_TRUE(hosts) << hosts.status().text();
  EXPECT_EQ(*hosts, (std::vector<Host>{{.name = "gpu1", .slots = 6}, {.name = "gpu2", .slots = 8}}));
}

TEST(ParseDiscovery, NothingMeansNoHosts) {
  for (const std::string_view text : {"", "\n", " \r\n\t\n"}) {
    const auto hosts = parse_discovery(text, 1);
    ASSERT_TRUE(hosts) << hosts.status().text();
    EXPECT_TRUE(hosts->empty());
  }
}

TEST(ParseDiscovery, RefusesWhatIsNoHostAndNamesTheLine) {
  for (const std::string_view text : {"a\n-oProxyCommand=x:2", "a\nb:0", "a\nb:many", "a\n$(reboot)", "a\nb:1:2"}) {
    const auto hosts = parse_discovery(text, 1);
    ASSERT_FALSE(hosts) << text;
    EXPECT_NE(hosts.status().text().find("line 2"), std::string_view::npos) << hosts.status().text();
  }
}

TEST(ParseDiscovery, RefusesMoreThanAnybodyPrints) {
  EXPECT_FALSE(parse_discovery(std::string(kDiscoveryBytesMax + 1, 'a'), 1));
}

// Runs a script again and again, and keeps what was told.
class Watching {
 public:
  explicit Watching(const std::string& script, std::chrono::milliseconds limit = 20s) {
    loop = *os::EventLoop::create();
    discovery = std::make_unique<HostDiscovery>(
        *loop, HostDiscovery::Settings{.script = script, .slots_per_host = 1, .pace = 1ms, .limit = limit},
        HostDiscovery::Listener{.found = [this](const std::vector<Host>& hosts) { found.push_back(hosts); },
                                .say = [this](const std::string& sentence) { said.push_back(sentence); }});
    discovery->begin();
  }
  bool until(const std::function<bool()>& is_done) { return loop->run_until(is_done, Deadline::after(os::now(), 20s)); }

  std::unique_ptr<os::EventLoop> loop;
  std::vector<std::vector<Host>> found;
  std::vector<std::string> said;
  std::unique_ptr<HostDiscovery> discovery;
};

TEST(HostDiscovery, TellsOfHostsWhenTheyChange) {
  // Every run counts itself in a file, and the third and later ones find another host.
  const auto folder = std::filesystem::temp_directory_path() / ("discovery-" + std::to_string(os::now().ns));
  std::filesystem::create_directory(folder);
  const std::string file = (folder / "runs").string();
  Watching watching("echo x >> " + file + "; n=$(wc -l < " + file + "); echo a:2; if [ $n -ge 3 ]; then echo b; fi");
  EXPECT_TRUE(watching.until([&] { return watching.found.size() == 2; }));
  ASSERT_EQ(watching.found.size(), 2u);
  EXPECT_EQ(watching.found[0], (std::vector<Host>{{.name = "a", .slots = 2}}));
  EXPECT_EQ(watching.found[1].size(), 2u);
  EXPECT_TRUE(watching.said.empty());
  watching.discovery.reset();
  std::filesystem::remove_all(folder);
}

TEST(HostDiscovery, AFailureIsToldOnceAndChangesNothing) {
  const auto folder = std::filesystem::temp_directory_path() / ("discovery-" + std::to_string(os::now().ns));
  std::filesystem::create_directory(folder);
  const std::string file = (folder / "runs").string();
  Watching watching("echo x >> " + file + "; n=$(wc -l < " + file + "); if [ $n -ge 6 ]; then echo b; exit 0; fi; " +
                    "echo a; if [ $n -ge 2 ]; then echo no such cluster >&2; exit 3; fi");
  EXPECT_TRUE(watching.until([&] { return watching.found.size() == 2; }));
  ASSERT_EQ(watching.said.size(), 1u);
  EXPECT_NE(watching.said[0].find("its exit code is 3 (no such cluster)"), std::string::npos) << watching.said[0];
  watching.discovery.reset();
  std::filesystem::remove_all(folder);
}

TEST(HostDiscovery, AScriptThatHangsIsEndedAndTold) {
  Watching watching("sleep 1000", 50ms);
  EXPECT_TRUE(watching.until([&] { return !watching.said.empty(); }));
  EXPECT_TRUE(watching.found.empty());
}

}  // namespace
}  // namespace tutti::launch
