#include "tools/tutti/horovod_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tutti::tool {

namespace {

// A section and what the options of its keys begin with.
struct Section {
  std::string_view name;
  std::string_view prefix;
};
constexpr std::array kSections = {Section{"params", ""},
                                  Section{"autotune", "autotune-"},
                                  Section{"timeline", "timeline-"},
                                  Section{"stall_check", "stall-check-"},
                                  Section{"library_options", ""},
                                  Section{"logging", "log-"}};

struct Line {
  bool is_indented = false;
  std::string key = {};
  std::string value = {};  // empty: a section begins
};

Result<Line> line_of(std::string_view given) {
  Line line{.is_indented = given.starts_with(' ')};
  if (given.find('\t') != std::string_view::npos) return invalid_argument("lines are indented with blanks, not tabs");
  const std::string_view text = text::trim(given);
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return invalid_argument(fmt::format("'{}' is no 'key: value'", text.substr(0, 60)));
  }
  line.key = std::string(text::trim(text.substr(0, colon)));
  std::string_view value = text::trim(text.substr(colon + 1));
  const char quote = value.empty() ? ' ' : value.front();
  if (value.size() >= 2 && (quote == '"' || quote == '\'') && value.back() == quote) {
    value = value.substr(1, value.size() - 2);
  } else if (quote == '[' || quote == '{' || quote == '|' || quote == '>' || quote == '&' || quote == '*') {
    return invalid_argument(fmt::format("'{}' has a value that is more than a word; write one word", line.key));
  }
  line.value = std::string(value);
  return line;
}

std::string_view without_comment(std::string_view line) {
  if (text::trim(line).starts_with('#')) return "";
  return line.substr(0, line.find(" #"));
}

bool is_true(std::string_view value) { return value == "true" || value == "True" || value == "yes" || value == "on"; }
bool is_false(std::string_view value) {
  return value == "false" || value == "False" || value == "no" || value == "off";
}

Result<std::string> option_of(const Section& section, const Line& line) {
  std::string name = std::string(section.prefix) + line.key;
  std::ranges::replace(name, '_', '-');
  std::string value = line.value;
  if (line.key == "enabled") name = std::string(section.prefix.substr(0, section.prefix.size() - 1));
  if (name == "log-hide-timestamp") {
    name = is_true(value) ? "log-without-timestamp" : "log-with-timestamp";
    value = "true";
  }
  if (name == "ccl-bgt-affinity") name = "thread-affinity";
  if (is_true(value)) return "--" + name;
  if (is_false(value)) return name == "log-with-timestamp" ? "--log-without-timestamp" : "--no-" + name;
  return fmt::format("--{}={}", name, value);
}

}  // namespace

Result<std::vector<std::string>> parse_horovod_config(std::string_view text) {
  std::vector<std::string> options;
  const Section* section = nullptr;
  std::size_t number = 0;
  for (const std::string_view given : text::split(text, '\n')) {
    ++number;
    const std::string_view content = without_comment(given);
    if (text::trim(content).empty() || text::trim(content) == "---") continue;
    const auto failed = [&](const Status& status) { return status.while_doing(fmt::format("line {}", number)); };
    const auto line = line_of(content);
    if (!line) return failed(line.status());
    if (!line->is_indented) {
      section = std::ranges::find(kSections, line->key, &Section::name);
      const bool is_section = section != kSections.end();
      if (!is_section) section = nullptr;
      if (line->key == "controller" && (line->value == "gloo" || line->value == "mpi")) {
        options.push_back("--" + line->value);
      } else if (!is_section || !line->value.empty()) {
        return failed(invalid_argument(fmt::format("'{}' is not known here", line->key.substr(0, 60))));
      }
      continue;
    }
    if (section == nullptr) return failed(invalid_argument(fmt::format("'{}' belongs to no section", line->key)));
    TUTTI_ASSIGN(std::string option, option_of(*section, *line));
    options.push_back(std::move(option));
  }
  return options;
}

}  // namespace tutti::tool
