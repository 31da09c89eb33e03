#include "tools/tidy/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>

#include "base/text.h"
#include "tools/tidy/functions.h"

namespace tutti::tidy {

namespace {

constexpr std::array<std::string_view, 10> kBannedNames = {"util",    "utils",   "common",   "misc",   "helper",
                                                           "helpers", "manager", "managers", "legacy", "v2"};

std::size_t columns_of(std::string_view line) {
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; };
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), is_first_byte));
}

// __cplusplus and what CUDA programs say before they include its runtime: the C headers.
bool is_condition(const std::string& name) {
  return name == "defined" || name == "NDEBUG" || name == "__cplusplus" || name.starts_with("TUTTI_HAS_") ||
         name == "CUDA_API_PER_THREAD_DEFAULT_STREAM";
}

}  // namespace

void check_name(const std::string& path, std::vector<Fault>& faults) {
  for (const std::string_view part : text::split(path, '/')) {
    const std::string_view stem = part.substr(0, part.find('.'));
    for (const std::string_view word : text::split(stem, '_')) {
      if (std::find(kBannedNames.begin(), kBannedNames.end(), word) == kBannedNames.end()) continue;
      faults.push_back({path, 0, fmt::format("'{}' says nothing as a name; find the noun", word)});
    }
  }
}

void check_lengths(const Source& source, std::vector<Fault>& faults) {
  const std::size_t limit = source.is_test() ? kTestLinesMax : kFileLinesMax;
  if (source.lines.size() > limit) {
    const auto text = fmt::format("the file has {} lines, at most {} are allowed", source.lines.size(), limit);
    faults.push_back({source.path, limit + 1, text});
  }
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const std::size_t columns = columns_of(source.lines[i]);
    if (columns <= kColumnsMax) continue;
    const auto text = fmt::format("the line has {} columns, at most {} are allowed", columns, kColumnsMax);
    faults.push_back({source.path, i + 1, text});
  }
}

void check_functions(const Source& source, std::vector<Fault>& faults) {
  if (source.is_test()) return;
  for (const Function& function : functions_of(source)) {
    if (function.length() <= kFunctionLinesMax) continue;
    const auto text =
        fmt::format("the function has {} lines, at most {} are allowed", function.length(), kFunctionLinesMax);
    faults.push_back({source.path, function.first_line, text});
  }
}

void check_header(const Source& source, std::vector<Fault>& faults) {
  if (!source.is_header()) return;
  const std::string_view first = source.lines.empty() ? std::string_view() : std::string_view(source.lines[0]);
  if (!first.starts_with("// ") && !first.starts_with("/*")) {
    faults.push_back({source.path, 1, "a header starts with one sentence: what this is for"});
  }
  const auto is_once = [](const std::string& line) { return text::trim(line) == "#pragma once"; };
  if (std::none_of(source.code.begin(), source.code.end(), is_once)) {
    faults.push_back({source.path, 1, "the header has no #pragma once"});
  }
}

void check_comments(const Source& source, std::vector<Fault>& faults) {
  static const std::regex kMark("\\b(TODO|FIXME)\\b");
  static const std::regex kNumbered("\\b(TODO|FIXME)\\b[( ]*#[0-9]+");
  for (std::size_t i = 0; i < source.comments.size(); ++i) {
    if (!std::regex_search(source.comments[i], kMark) || std::regex_search(source.comments[i], kNumbered)) continue;
    faults.push_back({source.path, i + 1, "work to do without an issue number; write TODO(#12)"});
  }
}

void check_conditions(const Source& source, std::vector<Fault>& faults) {
  static const std::regex kDirective("^\\s*#\\s*(if|ifdef|ifndef|elif|elifdef|elifndef)\\b(.*)$");
  static const std::regex kQuestion("__has_include\\s*\\([^)]*\\)");
  static const std::regex kName("[A-Za-z_][A-Za-z0-9_]*");
  for (std::size_t i = 0; i < source.code.size(); ++i) {
    std::smatch match;
    if (!std::regex_search(source.code[i], match, kDirective)) continue;
    const std::string condition = std::regex_replace(match[2].str(), kQuestion, "");
    for (std::sregex_iterator name(condition.begin(), condition.end(), kName), end; name != end; ++name) {
      if (is_condition(name->str())) continue;
      const auto text = fmt::format("#if on '{}'; only NDEBUG, __has_include and TUTTI_HAS_* may decide", name->str());
      faults.push_back({source.path, i + 1, text});
    }
  }
}

}  // namespace tutti::tidy
