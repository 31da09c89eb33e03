#include "tools/tutti/check_network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/knobs.h"
#include "bootstrap/network/selection.h"
#include "os/environment.h"
#include "os/network_interfaces.h"

namespace tutti::tool {

namespace {

Result<bootstrap::Selection> selection_here() {
  // Bad settings are a finding of their own: without them, the interfaces are still worth a look.
  const auto given = Knobs::read(os::environment_variable);
  const Knobs knobs = given ? *given : Knobs::standard();
  TUTTI_ASSIGN(const bootstrap::Wish wish, bootstrap::wish_of(knobs));
  TUTTI_ASSIGN(const auto interfaces, os::find_network_interfaces());
  return bootstrap::select_interfaces(interfaces, wish);
}

}  // namespace

Finding check_settings() {
  const auto knobs = Knobs::read(os::environment_variable);
  if (!knobs) {
    return {State::missing, "settings", std::string(knobs.status().text()), "'tutti env' lists every setting"};
  }
  std::vector<std::string_view> given;
  for (const KnobReading& reading : knobs->readings()) {
    if (!reading.variable.empty()) given.push_back(reading.variable);
  }
  Finding finding{
      .what = "settings",
      .text = given.empty() ? "all have their defaults" : fmt::format("the environment has {}", fmt::join(given, ", ")),
      .details = knobs->notes()};
  for (std::string& sentence : unknown_knobs(os::environment_names("TUTTI_")))
    finding.details.push_back(std::move(sentence));
  return finding;
}

Finding check_interfaces() {
  const auto selection = selection_here();
  if (!selection) {
    return {State::missing, "interfaces", std::string(selection.status().text()),
            "change the setting, or unset it: interfaces choose themselves"};
  }
  std::vector<std::string> reasons = selection->reasons();
  Finding finding{.what = "interfaces", .text = reasons.front()};
  finding.details.assign(reasons.begin() + 1, reasons.end());
  if (selection->chosen.empty()) {
    finding.state = State::slower;
    finding.remedy = "ranks of this host need none; to reach others, TUTTI_SOCKET_IFNAME names what to use";
  }
  return finding;
}

}  // namespace tutti::tool
