#include "tools/perf/report_html.h"

#include <gtest/gtest.h>

#include "tools/perf/invented_run_for_test.h"
#include "tools/perf/report_ranks.h"
#include "tools/perf/report_text.h"
#include "tools/perf/results_json.h"

namespace tutti::perf {
namespace {

constexpr std::string_view kHostile = "</script><img src=x onerror=\"alert('1')\"><!-- {{page_script}}";

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

nlohmann::json data_of(std::string_view page) {
  return nlohmann::json::parse(between(page, "<script type=\"application/json\" id=\"data\">", "</script>"));
}

TEST(ReportHtml, LoadsNothingFromAnywhere) {
  const std::string page = html_report(invented_run(), {});
  for (const std::string_view word : {"src=", "href=", "url(", "@import", "fetch(", "XMLHttpRequest", "https://"}) {
    EXPECT_FALSE(has(page, word)) << word;
  }
  EXPECT_EQ(count_of(page, "http://"), 1u) << "the name of SVG";
  EXPECT_TRUE(has(page, "default-src 'none'"));
  EXPECT_FALSE(has(page, "{{")) << "every part is filled in";
}

TEST(ReportHtml, HoldsAllData) {
  const perf::Run run = invented_run();
  const auto data = data_of(html_report(run, {{"earlier", invented_run(2)}}));
  const auto again = parse_run(data["run"].dump());
  ASSERT_TRUE(again) << again.status().text();
  EXPECT_EQ(*again, run);
  EXPECT_EQ(data["others"][0]["label"], "earlier");
  EXPECT_EQ(data["curves"].size(), 5u);
}

TEST(ReportHtml, ShowsVerdictsRemarksCommandAndMachine) {
  const std::string page = html_report(invented_run(), {});
  EXPECT_TRUE(has(page, "✓ correct"));
  EXPECT_TRUE(has(page, "as much as was asked for"));
  EXPECT_TRUE(has(page, "<li>At 4 MiB the bus bandwidth dips"));
  EXPECT_TRUE(has(page, "--name &#39;it&#39;\\&#39;&#39;s &lt;here&gt;&#39;"));
  EXPECT_TRUE(has(page, "8 cores of AMD EPYC 7B13"));
  EXPECT_TRUE(has(page, "NCCL_ALGO"));
  EXPECT_TRUE(has(page, "8 ranks · 2 hosts"));
}

TEST(ReportHtml, DoesNotCallDataCorrectThatAreNot) {
  perf::Run run = invented_run();
  run.rows[2].in_place->wrong = 7;
  run.out_of_bounds = 7;
  run.bandwidth_reached = false;
  std::string page = html_report(run, {});
  EXPECT_FALSE(has(page, "✓"));
  EXPECT_TRUE(has(page, "✕ wrong</span><span class=\"note\">7 elements, in 1 measurements of 48"));
  EXPECT_TRUE(has(page, "less than was asked for"));
  EXPECT_TRUE(has(page, "<td class=\"number wrong\">7</td>"));
  for (Row& row : run.rows) row.in_place->wrong = row.out_of_place->wrong = std::nullopt;
  run.out_of_bounds = 0;
  page = html_report(run, {});
  EXPECT_TRUE(has(page, "not checked"));
  EXPECT_FALSE(has(page, "✓ correct"));
}

TEST(ReportHtml, KeepsTextsFromBecomingMarkup) {
  perf::Run run = invented_run();
  const std::string hostile(kHostile);
  run.setup.program = run.setup.library = run.setup.started = run.setup.processor = run.setup.system = hostile;
  run.setup.command = {hostile};
  run.setup.settings = {{hostile, hostile}};
  run.remarks = {hostile};
  for (Seat& seat : run.setup.seats) seat.host = seat.bus = seat.name = hostile;
  for (Row& row : run.rows) {
    row.type = row.operation = hostile;
    row.plan = hostile;
  }
  const std::string page = html_report(run, {{hostile, run}});
  const std::string tame = html_report(invented_run(), {{"tame", invented_run()}});
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_FALSE(has(page, "<!--"));
  EXPECT_EQ(count_of(page, "</script>"), count_of(tame, "</script>"));
  EXPECT_EQ(data_of(page)["run"]["program"], hostile);
  EXPECT_EQ(html_escape("a\x01<&>\"'"), "a\xef\xbf\xbd&lt;&amp;&gt;&quot;&#39;");
}

TEST(ReportHtml, AnEmptyRunIsAPageWithoutCurves) {
  const std::string page = html_report({}, {});
  EXPECT_EQ(count_of(page, "<path class=\"curve"), 0u);
  EXPECT_TRUE(has(page, "Nothing was measured"));
  EXPECT_FALSE(has(page, "<table class=\"heat"));
}

TEST(ReportRanks, MarkTheRankThatIsLastTooOften) {
  const std::string table = html_straggler_table(invented_run());
  EXPECT_EQ(count_of(table, "class=\"suspicious\""), 1u);
  EXPECT_TRUE(
      has(table, "<tr class=\"suspicious\"><th scope=\"row\">5</th><td class=\"host\" title=\"node-b\">node-b</td>"));
  EXPECT_TRUE(has(table, "65 %"));
}

TEST(ReportRanks, HeatMapHasACellForEverySizeAndRank) {
  const std::string map = html_heat_map(invented_run());
  EXPECT_EQ(count_of(map, "<td"), 24u * 8);
  EXPECT_EQ(count_of(map, "title=\"rank 5 at 4 MiB: +7.6 %\">+8</td>"), 1u);
  EXPECT_TRUE(has(map, "colspan=\"4\" title=\"node-a\">node-a</th>"));
}

TEST(ReportRanks, OfAThousandShowsThoseThatWereLast) {
  perf::Run run;
  Row& row = run.rows.emplace_back();
  Stragglers& stragglers = row.in_place.emplace().stragglers.emplace();
  stragglers.mean_us.assign(1000, 10);
  stragglers.slowest.assign(1000, 0);
  stragglers.slowest[777] = 20;
  const std::string map = html_heat_map(run);
  EXPECT_EQ(count_of(map, "<td"), 128u);
  EXPECT_TRUE(has(map, "rank 777 "));
  EXPECT_TRUE(has(map, "128 of 1000 ranks"));
  EXPECT_TRUE(has(html_straggler_table(run), "The other 984 ranks"));
}

TEST(ReportRanks, SurviveListsOfOtherLengths) {
  perf::Run run = invented_run();
  run.rows[0].out_of_place->stragglers->mean_us.clear();
  run.rows[1].out_of_place->stragglers->slowest.clear();
  run.rows[2].out_of_place->stragglers->mean_us.assign(2, 0);
  EXPECT_TRUE(has(html_heat_map(run), "<td></td>"));
  EXPECT_FALSE(has(html_heat_map(run), "nan"));
}

}  // namespace
}  // namespace tutti::perf
