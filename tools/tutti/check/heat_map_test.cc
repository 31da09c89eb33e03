#include "tools/tutti/check/heat_map.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "tools/tutti/check/cluster_for_test.h"
#include "tools/tutti/check/cluster_text.h"

namespace tutti::tool::check {
namespace {

std::vector<std::string> names_of(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const CheckedHost& host : cluster.hosts) names.push_back(host.name);
  return names;
}

std::string bandwidths(const Cluster& cluster, const HeatMapStyle& style) {
  return heat_map("Bandwidth", names_of(cluster), bandwidths_of(cluster), Quantity::bytes_per_second, style);
}

std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  for (const std::string_view line : text::split(text, '\n')) width = std::max(width, line.size());
  return width;
}

TEST(HeatMap, ShowsNumbersWhereTheyFit) {
  Cluster cluster = good_cluster(3);
  pair_between(cluster, 0, 1).there_bytes_per_s = 1.1e9;
  pair_between(cluster, 1, 2).failure = "no route";
  EXPECT_EQ(bandwidths(cluster, {}),
            "Bandwidth (GB/s)\n"
            "      gpu1  gpu2  gpu3\n"
            "gpu1    --  1.10  3.00\n"
            "gpu2  3.00    --     ?\n"
            "gpu3  3.00     ?    --\n");
}

TEST(HeatMap, ShowsPercentsWhereNumbersDoNotFit) {
  Cluster cluster = good_cluster(4);
  pair_between(cluster, 0, 1).there_bytes_per_s = 1.5e9;
  const std::string text = bandwidths(cluster, {.columns_max = 20});
  EXPECT_EQ(text,
            "Bandwidth (percent of the median 3.00 GB/s, 100 and more are 99)\n"
            "gpu1 -- 50 99 99\n"
            "gpu2 99 -- 99 99\n"
            "gpu3 99 99 -- 99\n"
            "gpu4 99 99 99 --\n");
}

TEST(HeatMap, FitsSixtyFourHostsOnATerminal) {
  Cluster cluster = good_cluster(64);
  pair_between(cluster, 3, 40).there_bytes_per_s = 1e9;
  const std::string text = bandwidths(cluster, {.columns_max = 80});
  EXPECT_EQ(std::ranges::count(text, '\n'), 65);
  EXPECT_LE(width_of(text), 80u);
  const std::string row(text::split(text, '\n')[4]);
  EXPECT_EQ(row.substr(0, 6), "gpu4  ");
  EXPECT_EQ(row[6 + 3], '-');
  EXPECT_EQ(row[6 + 40], '3');
  EXPECT_EQ(row[6 + 41], '9');
}

TEST(HeatMap, ShowsTheWorstOfNeighboursWhereHostsAreMany) {
  Cluster cluster = good_cluster(200);
  pair_between(cluster, 0, 199).there_bytes_per_s = 1e8;
  const std::string text = bandwidths(cluster, {.columns_max = 80});
  EXPECT_NE(text.find("the worst of 4 hosts each way"), std::string::npos);
  EXPECT_EQ(text::split(text, '\n')[1].back(), '0');
  EXPECT_LE(width_of(std::string(text.substr(text.find('\n')))), 80u);
}

TEST(HeatMap, ColoursCellsByHowGoodTheyAre) {
  Cluster cluster = good_cluster(3);
  pair_between(cluster, 0, 1).there_bytes_per_s = 0.1e9;
  const std::string text = bandwidths(cluster, {.has_colour = true});
  EXPECT_NE(text.find("\x1b[30;48;5;196m 0.10\x1b[0m"), std::string::npos) << "red";
  EXPECT_NE(text.find("\x1b[30;48;5;40m 3.00\x1b[0m"), std::string::npos) << "green";
  EXPECT_EQ(bandwidths(cluster, {}).find('\x1b'), std::string::npos);
}

TEST(HeatMap, TakesALowLatencyForGood) {
  EXPECT_EQ(goodness(2, 1, Better::low), 0.5);
  EXPECT_EQ(goodness(2, 1, Better::high), 2);
  EXPECT_EQ(goodness(0, 1, Better::high), 0);
}

TEST(ClusterText, HasWhatIsCommonWhatDiffersTheMapsAndTheVerdict) {
  Cluster cluster = good_cluster(3);
  cluster.hosts[1].report->facts[1].text = "32";
  pair_between(cluster, 0, 2).clock_offset_s = 0.002;
  pair_between(cluster, 1, 2).clock_offset_s = 0.002;
  cluster.hosts[2].report->findings.push_back({State::slower, "locked memory", "8 MiB", "raise it"});
  EXPECT_EQ(text_of(cluster, {}, {}),
            "On all hosts: tutti 0.1.0, memory 512 GiB\n"
            "\n"
            "host  calls itself  clock  cores\n"
            "gpu1  gpu1          0      64\n"
            "gpu2  gpu2          0      32 *\n"
            "gpu3  gpu3          +2 ms  64\n"
            "* differs from most hosts\n"
            "\n"
            "Latency (us)\n"
            "      gpu1  gpu2  gpu3\n"
            "gpu1    --  20.0  20.0\n"
            "gpu2  20.0    --  20.0\n"
            "gpu3  20.0  20.0    --\n"
            "\n"
            "Bandwidth, from the row to the column (GB/s)\n"
            "      gpu1  gpu2  gpu3\n"
            "gpu1    --  3.00  3.00\n"
            "gpu2  3.00    --  3.00\n"
            "gpu3  3.00  3.00    --\n"
            "\n"
            "Would help\n"
            "gpu3: locked memory: 8 MiB\n"
            "    -> raise it\n"
            "\n"
            "Nothing is wrong with these 3 hosts.\n");
}

}  // namespace
}  // namespace tutti::tool::check
