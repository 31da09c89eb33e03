#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/random.h"
#include "topology/limits.h"
#include "tutti/topology.h"

namespace tutti::topology {

namespace {

const std::filesystem::path kSamples = std::filesystem::path(TUTTI_SOURCE_DIR) / "share" / "topologies";

std::string error_of(std::string_view text) {
  const auto topology = parse(text);
  return topology ? "no error" : std::string(topology.status().text());
}

// The same, after a host of one device and one card in lines 1 to 4.
std::string error_after_host(std::string_view more) {
  return error_of("host a\ndevice g memory=1GB/s\nnic n\nlink g n bandwidth=1GB/s\n" + std::string(more));
}

// The same, with two such hosts (a0, a1) and the network in line 5.
std::string error_in_network(std::string_view more) {
  return error_of("host a[0-1]\ndevice g memory=1GB/s\nnic n,m\nlink g n,m bandwidth=1GB/s\nnetwork\n" +
                  std::string(more));
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' lacks '" << part << "'";
}

TEST(Samples, AllParseAndReadBackFromTheirPrint) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSamples)) {
    if (entry.path().extension() != ".topo") continue;
    const auto topology = read_file(entry.path().string());
    ASSERT_TRUE(topology) << topology.status().text();
    const auto again = parse(print(*topology));
    ASSERT_TRUE(again) << again.status().text() << "\n" << print(*topology);
    EXPECT_EQ(*again, *topology) << print(*topology);
    EXPECT_EQ(print(*again), print(*topology));
    ++count;
  }
  EXPECT_GE(count, 5u);
}

TEST(Samples, HaveTheSizesOfTheirNames) {
  const auto count_of = [](const char* name) { return read_file((kSamples / name).string())->device_count(); };
  EXPECT_EQ(count_of("laptop.topo"), 8u);
  EXPECT_EQ(count_of("v100x8.topo"), 8u);
  EXPECT_EQ(count_of("a100x8.topo"), 8u);
  EXPECT_EQ(count_of("a100x16.topo"), 16u);
  EXPECT_EQ(count_of("h100x4096.topo"), 4096u);
}

TEST(Guide, TheWorkedExampleParses) {
  std::ifstream file(std::filesystem::path(TUTTI_SOURCE_DIR) / "docs" / "guide" / "topologies.md");
  const std::string guide((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t begin = guide.find("```\n") + 4;
  const auto topology = parse(guide.substr(begin, guide.find("```", begin) - begin));
  ASSERT_TRUE(topology) << topology.status().text();
  EXPECT_EQ(topology->device_count(), 16u);
}

TEST(Parse, ReadsWhatIsWritten) {
  const auto topology = parse(R"(topology "two # nodes"  # a comment
    launch 25us
    step 0.8us
    host node[0-1]
      device gpu[0-1] memory=1300GB/s
      device core memory=dram
      switch dram bandwidth=26GB/s
      nic mlx[0-3]
      link gpu[0-1],core dram bandwidth=12GB/s latency=1us shared
      link dram mlx0 bandwidth=12GB/s
      link gpu[0-1] mlx[0-3] bandwidth=100Gb/s
      reach none
    host big
      device cpu memory=dram
      switch dram
      nic eth
      link cpu dram bandwidth=30GB/s
      link dram eth bandwidth=10GB/s
    network
      switch leaf[0-1],spine
      link node[0-1] leaf[0-1] bandwidth=12.5GB/s latency=2us
      link big.eth spine bandwidth=10GB/s
      link leaf[0-1] spine bandwidth=50GB/s latency=1us)");
  ASSERT_TRUE(topology) << topology.status().text();
  EXPECT_EQ(topology->name, "two # nodes");
  EXPECT_DOUBLE_EQ(topology->launch_s, 25e-6);
  EXPECT_EQ(topology->hosts.size(), 3u);
  EXPECT_EQ(topology->device_count(), 7u);
  const HostKind& node = topology->kinds[0];
  EXPECT_FALSE(node.reach);
  EXPECT_TRUE(topology->kinds[1].reach);
  EXPECT_EQ(node.vertices[2].memory_switch, 3u);
  EXPECT_EQ(node.vertices[3].backplane_bytes_per_s, 26e9);
  ASSERT_EQ(node.links.size(), 8u);
  EXPECT_TRUE(node.links[0].shared);
  EXPECT_EQ(node.links[5].a, 0u);  // gpu0 gets mlx0 and mlx1
  EXPECT_EQ(node.vertices[node.links[5].b].name, "mlx1");
  EXPECT_EQ(node.links[6].a, 1u);
  EXPECT_EQ(topology->attachments[1][3].switch_index, 1u);
  EXPECT_EQ(topology->attachments[2][0].switch_index, 2u);
  EXPECT_EQ(topology->switches[0].parent, 2u);
  EXPECT_FALSE(topology->switches[2].parent);
  EXPECT_EQ(places(*topology)[6], (Place{.host = 2, .device = 0}));
  EXPECT_EQ(*parse(print(*topology)), *topology) << print(*topology);
}

TEST(Parse, RoundTripKeepsCardsOnDifferentRails) {
  const auto topology = parse(R"(host n[00-03],x
      device g[0-1] memory=1GB/s
      nic m[0-1]
      link g0 g1 bandwidth=0.1GB/s latency=0.3us
      link g[0-1] m[0-1] bandwidth=0.7GB/s latency=0.1us
      link g0,g0 m1 bandwidth=1GB/s
    network
      switch rail[0-1],top
      link n[00-03].m0,x.m0 rail0 bandwidth=3333333.3B/s
      link n[00-03].m1,x.m1 rail1 bandwidth=1GB/s latency=1.23456789us
      link rail[0-1] top bandwidth=1GB/s)");
  ASSERT_TRUE(topology) << topology.status().text();
  EXPECT_EQ(*parse(print(*topology)), *topology) << print(*topology);
}

TEST(Parse, RoundTripIsExactForAnyNumber) {
  Random random(20240607);
  for (int i = 0; i < 300; ++i) {
    const std::string digits = std::to_string(random.next());
    const std::string rate = digits.substr(0, 1 + random.below(10)) + "." + digits.substr(0, 1 + random.below(17));
    const std::string unit = i % 2 == 0 ? "B/s" : "Mb/s";
    const auto topology = parse("launch 0." + digits + "ms\nhost h\ndevice g memory=" + rate + unit);
    ASSERT_TRUE(topology) << topology.status().text();
    EXPECT_EQ(*parse(print(*topology)), *topology) << print(*topology);
  }
}

TEST(ParseErrors, NameUnknownWordsAndWhatWasMeant) {
  EXPECT_EQ(error_of("\n\nhosst a"), "line 3: 'hosst' is not a keyword, did you mean 'host'?");
  EXPECT_EQ(error_of("quux"), "line 1: 'quux' is not a keyword; expected topology, launch, step, host, network");
  EXPECT_EQ(error_after_host("devise x memory=1GB/s"), "line 5: 'devise' is not a keyword, did you mean 'device'?");
  EXPECT_EQ(error_of("device g"), "line 1: 'device' stands before any host; begin one with 'host NAME'");
  EXPECT_EQ(error_in_network("nic x"), "line 6: 'nic' belongs to a host; move it above 'network'");
  EXPECT_EQ(error_after_host("link g n bandwidht=1GB/s"),
            "line 5: 'bandwidht' is not an attribute of 'link' here, did you mean 'bandwidth'?");
  EXPECT_EQ(error_after_host("nic x bandwidth=1GB/s"),
            "line 5: 'bandwidth' is not an attribute of 'nic' here; expected nothing more here");
  EXPECT_EQ(error_in_network("switch s\nlink a0 s bandwidth=1GB/s shared"),
            "line 7: 'shared' is not an attribute of 'link' here; expected bandwidth, latency");
  EXPECT_EQ(error_after_host("link g nn bandwidth=1GB/s"),
            "line 5: 'nn' is not a device, switch or nic of this host, did you mean 'n'?");
}

TEST(ParseErrors, NameValuesThatAreNone) {
  expect_contains(error_after_host("link g n bandwidth=25GBs"),
                  "line 5: bandwidth='25GBs' is not a rate; write a number");
  expect_contains(error_after_host("link g n bandwidth=25 GB/s"), "line 5: bandwidth='25' is not a rate");
  expect_contains(error_after_host("link g n bandwidth=0GB/s"),
                  "line 5: bandwidth='0GB/s' is out of range; it must be above");
  expect_contains(error_after_host("link g n bandwidth=-1GB/s"), "line 5: bandwidth='-1GB/s' is out of range");
  expect_contains(error_after_host("link g n bandwidth=9999999TB/s"),
                  "line 5: bandwidth='9999999TB/s' is out of range");
  expect_contains(error_after_host("link g n bandwidth=1GB/s latency=-1us"), "line 5: latency '-1us' is out of range");
  expect_contains(error_after_host("link g n bandwidth=1GB/s latency=1sec"), "line 5: latency '1sec' is not a time");
  EXPECT_EQ(error_after_host("link g n bandwidth="),
            "line 5: 'bandwidth' has no value; write it without blanks, as in "
            "bandwidth=...");
  EXPECT_EQ(error_after_host("link g n bandwidth=1GB/s bandwidth=1GB/s"),
            "line 5: 'bandwidth' stands twice in this line; keep one");
  EXPECT_EQ(error_after_host("link g n bandwidth=1GB/s shared=yes"), "line 5: 'shared' takes no value; write it alone");
  EXPECT_EQ(error_of("launch"), "line 1: 'launch' takes one time; write 'launch 0.8us'");
  expect_contains(error_of("step 3parsec"), "line 1: step '3parsec' is not a time");
  EXPECT_EQ(error_of("step 1us\nstep 1us"), "line 2: 'step' stands already in line 1; keep one");
  expect_contains(error_of("topology two"), "line 1: 'topology' takes a name in quotes, not 'two'");
  expect_contains(error_of("topology \"a\"b\""), "line 1: the name 'a\"b' must have");
  EXPECT_EQ(error_after_host("reach some"), "line 5: 'reach' takes 'all' or 'none', not 'some'");
  EXPECT_EQ(error_after_host("reach all\nreach all"), "line 6: 'reach' stands twice in this host; keep one");
}

TEST(ParseErrors, NameWhatIsMissingInAHost) {
  EXPECT_EQ(error_of("# nothing"), "the topology has no host; add 'host NAME' and its devices");
  EXPECT_EQ(error_of("host"), "line 1: 'host' has no name; write 'host NAME' or 'host NAME[0-7]'");
  EXPECT_EQ(error_of("host a\nnic n"), "line 1: this host has no device; add 'device NAME memory=...' below it");
  expect_contains(error_of("host a\ndevice g"), "line 2: device 'g' has no memory; add memory=RATE");
  expect_contains(
      error_of("host a\ndevice g memory=drum\nswitch dram"),
      "line 2: memory='drum' of device 'g' is neither a rate nor a switch of this host, did you mean 'dram'?");
  expect_contains(error_of("host a\ndevice g memory=dram\nswitch dram"),
                  "line 2: device 'g' has its memory in 'dram' but no link to it; add 'link g dram");
  EXPECT_EQ(error_after_host("link g n latency=1us"),
            "line 5: the link from 'g' to 'n' has no bandwidth; add one, as in bandwidth=25GB/s");
  expect_contains(error_after_host("link g bandwidth=1GB/s"), "line 5: 'link' joins two names or lists");
  EXPECT_EQ(error_after_host("device g memory=1GB/s"), "line 5: 'g' exists already in this host; choose another name");
  EXPECT_EQ(error_after_host("link g g bandwidth=1GB/s"),
            "line 5: 'g' is linked to itself; remove it from one of the lists");
  expect_contains(error_after_host("switch s[0-4]\nswitch t[0-2]\nlink s[0-4] t[0-2] bandwidth=1GB/s"),
                  "line 7: 's[0-4]' has 5 ends and 't[0-2]' has 3: they do not pair up");
}

TEST(ParseErrors, NameDevicesThatCannotReachEachOther) {
  expect_contains(error_of("\nhost a\ndevice g[0-2] memory=1GB/s\nlink g0 g[1-2] bandwidth=1GB/s"),
                  "line 2: device 'g1' of this host cannot reach device 'g2'; add links");
  expect_contains(error_of("host a\ndevice g[0-1] memory=1GB/s\nnic n\nlink g[0-1] n bandwidth=1GB/s"),
                  "line 1: device 'g0' of this host cannot reach device 'g1'");
  EXPECT_EQ(error_of("host a\ndevice g[0-2] memory=1GB/s\nswitch s,t\nlink g[0-1] s bandwidth=1GB/s\n"
                     "link g2 t bandwidth=1GB/s\nlink s t bandwidth=1GB/s"),
            "no error");
}

TEST(ParseErrors, NameWhatIsWrongWithTheNetwork) {
  expect_contains(error_of("host a,b\ndevice g memory=1GB/s"), "line 1: there are 2 hosts but no network between them");
  EXPECT_EQ(error_of("network"), "line 1: 'network' stands before any host; move it below them");
  EXPECT_EQ(error_in_network("host c"), "line 6: 'host' stands below 'network'; move it above");
  EXPECT_EQ(error_of("host a\ndevice g memory=1GB/s\nhost a"), "line 3: host 'a' exists already; choose another name");
  expect_contains(error_of("host a,b\ndevice g memory=1GB/s\nnetwork\nswitch s\nlink a,b s bandwidth=1GB/s"),
                  "line 5: host 'a' has no nic to link to the network");
  expect_contains(error_of("host a\ndevice g memory=1GB/s\nnetwork\nswitch s"), "line 1: this host has no nic");
  expect_contains(error_of("host a\ndevice g memory=1GB/s\nnic n\nnetwork\nswitch s\nlink a s bandwidth=1GB/s"),
                  "line 1: device 'g' of this host reaches no nic");
  expect_contains(error_in_network("switch s\nlink a[0-1] s bandwidth=1GB/s\nlink a1.m s bandwidth=1GB/s"),
                  "line 8: nic 'a1.m' is linked already by line 7; a nic has one cable");
  expect_contains(error_in_network("switch s\nlink a0,a1.n s bandwidth=1GB/s"),
                  "line 5: nic 'a1.m' is not linked to the network; add 'link a1.m SWITCH");
  EXPECT_EQ(error_in_network("switch a1"), "line 6: 'a1' exists already; choose another name");
  expect_contains(error_in_network("switch s\nlink a2 s bandwidth=1GB/s"),
                  "line 7: 'a2' is neither a host nor a switch of the network, did you mean 'a");
  expect_contains(error_in_network("switch s\nlink a0.x s bandwidth=1GB/s"), "line 7: 'x' is not a nic of host 'a0'");
  expect_contains(error_in_network("switch s\nlink s a0 bandwidth=1GB/s"), "line 7: 'a0' is a host, but a switch is");
  expect_contains(error_in_network("switch spine\nlink a0 spin bandwidth=1GB/s"), "did you mean 'spine'?");
  expect_contains(error_in_network(""), "line 5: the network has no switch");
}

TEST(ParseErrors, NameWhatIsNoTree) {
  const std::string hosts = "switch s,t,u\nlink a[0-1] s bandwidth=1GB/s\n";
  expect_contains(error_in_network(hosts), "line 5: the network falls apart: neither 's' nor 't' hangs below a switch");
  expect_contains(error_in_network(hosts + "link s t,u bandwidth=1GB/s"),
                  "line 8: switch 's' hangs already below 't', so it cannot hang below 'u' too");
  expect_contains(error_in_network(hosts + "link s t bandwidth=1GB/s\nlink t s bandwidth=1GB/s"),
                  "line 9: 't' below 's' closes a circle");
  expect_contains(error_in_network(hosts + "link s s bandwidth=1GB/s"), "line 8: 's' below 's' closes a circle");
  expect_contains(error_in_network("switch s[0-99]\nlink a[0-1] s0 bandwidth=1GB/s\n"
                                   "link s[0-98] s[1-99] bandwidth=1GB/s\nlink s99 s0 bandwidth=1GB/s"),
                  "line 5: switch 's0' has more than 15 switches above it");
}

TEST(Hostile, SizesAreBounded) {
  expect_contains(error_of("host a\ndevice g[0-4096] memory=1GB/s"),
                  "line 2: the list 'g[0-4096]' makes more than 4096");
  expect_contains(error_of("host a\ndevice g[0-4095] memory=1GB/s\nnic n"), "line 3: 'n' is one too many");
  expect_contains(error_of("host a[0-999999999]\n"), "line 1: the list 'a[0-999999999]' makes more than 1048576 names");
  expect_contains(error_of("host a[0-1000000]\ndevice g[0-1] memory=1GB/s\nlink g0 g1 bandwidth=1GB/s"),
                  "line 1: the machine is too large: with these hosts it has 2000002 devices; at most 1048576 are");
  expect_contains(error_of(std::string(kTextBytesMax + 1, '#')), "at most 16777216 are read");
  std::string many_kinds;
  for (int i = 0; i < 20; ++i) many_kinds += "host h" + std::to_string(i) + "\ndevice g memory=1GB/s\nnic n[0-4000]\n";
  expect_contains(error_of(many_kinds), "'n1503' is one too many");
  std::string many_links = "host a\ndevice g memory=1GB/s\nswitch s,t[0-4000]\n";
  for (int i = 0; i < 5; ++i) many_links += "link s t[0-4000] bandwidth=1GB/s\n";
  expect_contains(error_of(many_links), "line 8: this makes too many links");
}

TEST(Hostile, OddTextIsAnErrorAndNothingWorse) {
  using std::string_literals::operator""s;
  for (const std::string& text :
       {"\0\0\0"s, "host \0"s, "host a\ndevice \xff\xfe memory=1GB/s"s, "topology \""s, "topology \"\"\""s, "\r\r\r"s,
        "host a\nlink"s, "host a\nlink  [ ] bandwidth=1GB/s"s, "host a\ndevice g memory="s, "host a\ndevice =g"s,
        "host a\ndevice g memory==1GB/s"s, "host a\ndevice g memory=1e400GB/s"s, std::string(100000, '['),
        "host " + std::string(100000, 'a'), "host a\n" + std::string(100000, '=') + " b"}) {
    const auto topology = parse(text);
    ASSERT_FALSE(topology);
    EXPECT_LT(topology.status().text().size(), 400u);
  }
}

TEST(Hostile, DamagedSamplesNeverCrash) {
  const std::string text = print(*read_file((kSamples / "a100x16.topo").string()));
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (std::uint64_t k = 0; k <= random.below(4); ++k) {
      const std::size_t at = random.below(damaged.size());
      if (random.below(2) == 0)
        damaged[at] = text[random.below(text.size())];
      else
        damaged.erase(at, random.below(20));
    }
    if (const auto topology = parse(damaged)) {
      EXPECT_EQ(*parse(print(*topology)), *topology) << damaged;
    }
  }
}

TEST(ReadFile, NamesTheFile) {
  const auto missing = read_file("/nowhere/x.topo");
  ASSERT_FALSE(missing);
  expect_contains(std::string(missing.status().text()), "cannot read the topology '/nowhere/x.topo': No such file");
  EXPECT_FALSE(read_file(kSamples.string()));  // a folder
}

}  // namespace

}  // namespace tutti::topology
