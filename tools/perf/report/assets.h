// The files of tools/perf/report, as the build puts them into the program.
#pragma once

#include <string_view>

namespace tutti::perf {

extern const std::string_view kPageTemplate;  // page.html: {{name}} stands for what html_report fills in
extern const std::string_view kPageStyle;     // style.css
extern const std::string_view kChartScript;   // chart.js
extern const std::string_view kPageScript;    // page.js

}  // namespace tutti::perf
