// The HTML report as a browser shows it: curves are drawn, with and without scripts, and switches do what they say.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/text.h"
#include "tests/perf_report/browser_for_test.h"
#include "tools/perf/invented_run_for_test.h"
#include "tools/perf/report_html.h"

namespace tutti::perf {
namespace {

// The colours of the first curves on a light page (style.css).
constexpr std::string_view kBlue = "0072b2";
constexpr std::string_view kOrange = "d55e00";

constexpr int kWidth = 1200;
constexpr int kHeight = 2400;

// Leaves only the charts, so that every pixel of a curve's colour is one of a curve.
constexpr std::string_view kChartsOnly =
    "<style>header, main > :not(.charts), .legend, .switches { display: none !important }</style>";

// Counts the pixels of a picture by colour and writes "0072b2=123" for each.
constexpr std::string_view kCounter = R"(<!DOCTYPE html><img src="IMAGE"><p id="colours"></p><script>
  onload = () => {
    const image = document.querySelector("img");
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const bytes = context.getImageData(0, 0, canvas.width, canvas.height).data;
    const counts = new Map();
    for (let i = 0; i < bytes.length; i += 4) {
      const colour = ((bytes[i] << 16) | (bytes[i + 1] << 8) | bytes[i + 2]).toString(16).padStart(6, "0");
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    document.getElementById("colours").textContent = [...counts].map(([name, count]) => `${name}=${count}`).join(" ");
  };
</script>)";

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t at = text.find(begin);
  if (at == text.npos) return {};
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

// Before the last </body>: texts of the page may hold others.
std::string with(std::string page, std::string_view addition) { return page.insert(page.rfind("</body>"), addition); }

std::string without_scripts(std::string page) {
  for (std::size_t begin = 0; (begin = page.find("<script")) != page.npos;) {
    page.erase(begin, page.find("</script>", begin) + 9 - begin);
  }
  return page;
}

using Colours = std::map<std::string, int, std::less<>>;  // pixels by colour

int pixels(const Colours& colours, std::string_view colour) {
  const auto found = colours.find(colour);
  return found == colours.end() ? 0 : found->second;
}

class BrowserTest : public testing::Test {
 protected:
  void SetUp() override {
    browser_ = Browser::find();
    if (!browser_) {
      GTEST_SKIP() << "no browser: install chromium-headless-shell or chromium (Debian), or put one of them, "
                      "chromium-browser or google-chrome into PATH";
    }
    folder_ = std::filesystem::path(TUTTI_PAGES_DIR) /
              testing::UnitTest::GetInstance()->current_test_info()->name();  // kept, to look at
    std::filesystem::create_directories(folder_);
  }

  void TearDown() override {
    if (browser_) {
      EXPECT_EQ(browser_->complaints(), "");
    }
  }

  std::string file(const std::string& name, std::string_view text) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string document_of(std::string_view page) const { return browser_->document_of(file("page.html", page)); }

  Colours colours_of(const std::string& page) const {
    Colours colours;
    const std::string image = folder_ / "page.png";
    if (!browser_->screenshot(file("page.html", page), image, kWidth, kHeight)) {
      ADD_FAILURE() << "no screenshot";
      return colours;
    }
    std::string counter(kCounter);
    counter.replace(counter.find("IMAGE"), 5, "page.png");
    const std::string document = browser_->document_of(file("counter.html", counter));
    for (const std::string_view pair : text::words(between(document, "<p id=\"colours\">", "</p>"))) {
      const auto parts = text::split(pair, '=');
      colours[std::string(parts[0])] = text::integer_of<int>(parts.back()).value_or(0);
    }
    EXPECT_FALSE(colours.empty()) << "the screenshot could not be read: " << document;
    return colours;
  }

  std::optional<Browser> browser_;
  std::filesystem::path folder_;
};

LabelledRuns peer() { return {{"NCCL 2.28.9", invented_run(1.35)}}; }

TEST_F(BrowserTest, CurvesAreOnTheScreen) {
  static_cast<void>(browser_->screenshot(file("whole.html", html_report(invented_run(), peer())), folder_ / "whole.png",
                                         kWidth, kHeight));  // for people
  const auto colours = colours_of(with(html_report(invented_run(), peer()), kChartsOnly));
  EXPECT_GT(pixels(colours, kBlue), 1000);
  EXPECT_GT(pixels(colours, kOrange), 500);
}

TEST_F(BrowserTest, CurvesAreOnTheScreenWithoutScripts) {
  const auto colours = colours_of(with(without_scripts(html_report(invented_run(), peer())), kChartsOnly));
  EXPECT_GT(pixels(colours, kBlue), 1000);
  EXPECT_GT(pixels(colours, kOrange), 500);
}

TEST_F(BrowserTest, AnEmptyRunHasNoCurve) {
  const auto colours = colours_of(with(html_report({}, {}), kChartsOnly));
  EXPECT_EQ(pixels(colours, kBlue), 0);
  EXPECT_EQ(pixels(colours, kOrange), 0);
}

TEST_F(BrowserTest, ScriptsDrawEveryPoint) {
  const std::string document = document_of(html_report(invented_run(), peer()));
  EXPECT_EQ(count_of(document, "data-drawn=\"script\""), 2u);
  const std::string_view chart = between(document, "<figure id=\"bandwidth\">", "</figure>");
  EXPECT_EQ(count_of(chart, "<path class=\"curve"), 4u);
  const std::string_view last = chart.substr(chart.rfind("<path class=\"curve"));
  EXPECT_EQ(count_of(between(last, " d=\"", "\""), "L"), 23u) << last;
  EXPECT_EQ(count_of(chart, "<path class=\"band"), 1u);
}

TEST_F(BrowserTest, SwitchesChangeTheAxes) {
  const std::string page = html_report(invented_run(), {});
  const std::string before = document_of(page);
  const std::string after = document_of(with(page, R"(<script>
    document.querySelector("#bandwidth [data-axis=y][data-scale=log]").click();
    document.querySelector("#time [data-axis=x][data-scale=linear]").click();</script>)"));
  EXPECT_FALSE(between(before, "<figure id=\"bandwidth\">", "</figure>").find(">0.001</text>") != std::string::npos);
  EXPECT_TRUE(between(after, "<figure id=\"bandwidth\">", "</figure>").find(">0.001</text>") != std::string::npos);
  EXPECT_TRUE(between(after, "<figure id=\"time\">", "</figure>").find(">0 B</text>") != std::string::npos);
  EXPECT_EQ(count_of(after, "<path class=\"curve"), count_of(before, "<path class=\"curve"));
}

TEST_F(BrowserTest, TheLegendTakesCurvesAwayAndBringsThemBack) {
  const std::string page = html_report(invented_run(), peer());
  const auto curves = [&](const std::string& script) {
    const std::string document = document_of(with(page, "<script>" + script + "</script>"));
    return count_of(between(document, "<figure id=\"time\">", "</figure>"), "<path class=\"curve");
  };
  const std::string click = "document.querySelector('.legend .entry').click();";
  EXPECT_EQ(curves(""), 4u);
  EXPECT_EQ(curves(click), 3u);
  EXPECT_EQ(curves(click + click), 4u);
  EXPECT_EQ(curves("document.querySelectorAll('.legend .entry').forEach((entry) => entry.click());"), 1u);
}

TEST_F(BrowserTest, ThePointerReadsValuesOut) {
  const std::string document = document_of(with(html_report(invented_run(), peer()), R"(<script>
    const target = document.querySelector("#bandwidth svg.chart");
    const box = target.getBoundingClientRect();
    const place = {clientX: box.right - 30, clientY: box.top + 50};
    target.dispatchEvent(new PointerEvent("pointermove", place));</script>)"));
  const std::string_view readout = between(document, "<div class=\"readout\"", "</div></div>");
  EXPECT_NE(readout.find("<strong>64 MiB</strong>"), readout.npos) << readout;
  EXPECT_NE(readout.find("NCCL 2.28.9, out of place"), readout.npos) << readout;
  EXPECT_EQ(count_of(readout, "GB/s"), 4u) << readout;
}

TEST_F(BrowserTest, HostileNamesStayText) {
  perf::Run run = invented_run();
  const std::string hostile =
      "</script><script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">";
  run.setup.program = run.setup.library = run.setup.processor = hostile;
  run.setup.command = {hostile};
  run.setup.settings = {{hostile, hostile}};
  run.remarks = {hostile};
  for (Seat& seat : run.setup.seats) seat.host = seat.name = hostile;
  for (Row& row : run.rows) row.type = row.operation = hostile;
  const std::string document = document_of(with(html_report(run, {{hostile, run}}), R"(<script>
    charts[0].readOut(8);
    document.body.dataset.images = document.images.length;</script>)"));
  EXPECT_EQ(count_of(document, "<title>owned"), 0u);
  EXPECT_EQ(count_of(document, "data-images=\"0\""), 1u);
  EXPECT_EQ(count_of(document, "data-drawn=\"script\""), 2u);
}

}  // namespace
}  // namespace tutti::perf
