#include "tools/tutti/check/report_json.h"

#include <nlohmann/json.hpp>

namespace tutti::tool::check {

namespace {

using Json = nlohmann::ordered_json;

std::string string_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// What is no array counts as an empty one.
const Json& list_of(const Json& json, const char* name) {
  static const Json nothing = Json::array();
  const auto found = json.find(name);
  return found != json.end() && found->is_array() ? *found : nothing;
}

Json json_of(const Finding& finding) {
  return {{"state", name_of(finding.state)},
          {"what", finding.what},
          {"text", finding.text},
          {"remedy", finding.remedy},
          {"details", finding.details}};
}

Finding finding_of(const Json& json) {
  Finding finding{
      .what = string_of(json, "what"), .text = string_of(json, "text"), .remedy = string_of(json, "remedy")};
  const std::string state = string_of(json, "state");
  for (const State known : {State::good, State::slower, State::missing}) {
    if (state == name_of(known)) finding.state = known;
  }
  for (const Json& detail : list_of(json, "details")) {
    if (detail.is_string()) finding.details.push_back(detail.get<std::string>());
  }
  return finding;
}

Json json_of(const Frameworks& frameworks) {
  Json all = Json::array();
  for (const Framework& framework : frameworks.all) {
    all.push_back({{"name", framework.name}, {"version", framework.version}});
  }
  return {{"python", frameworks.python}, {"failure", frameworks.failure}, {"all", all}};
}

Frameworks frameworks_of(const Json& json) {
  Frameworks frameworks;
  if (!json.is_object()) return frameworks;
  frameworks.python = string_of(json, "python");
  frameworks.failure = string_of(json, "failure");
  for (const Json& one : list_of(json, "all")) {
    if (one.is_object()) frameworks.all.push_back({string_of(one, "name"), string_of(one, "version")});
  }
  return frameworks;
}

}  // namespace

Json json_of(const HostReport& report) {
  Json facts = Json::array();
  for (const Fact& fact : report.facts) facts.push_back({{"name", fact.name}, {"text", fact.text}});
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(json_of(finding));
  return {{"host", report.host},
          {"version", report.version},
          {"usable", is_usable(report.findings)},
          {"facts", facts},
          {"frameworks", json_of(report.frameworks)},
          {"findings", findings}};
}

Result<HostReport> report_of(const Json& json) {
  if (!json.is_object() || string_of(json, "version").empty()) {
    return Status(Code::invalid_argument, "it is no report of 'tutti check': it has no version");
  }
  HostReport report{.host = string_of(json, "host"), .version = string_of(json, "version")};
  for (const Json& fact : list_of(json, "facts")) {
    if (fact.is_object()) report.facts.push_back({string_of(fact, "name"), string_of(fact, "text")});
  }
  if (json.contains("frameworks")) report.frameworks = frameworks_of(json["frameworks"]);
  for (const Json& finding : list_of(json, "findings")) {
    if (finding.is_object()) report.findings.push_back(finding_of(finding));
  }
  return report;
}

}  // namespace tutti::tool::check
