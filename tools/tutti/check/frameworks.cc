#include "tools/tutti/check/frameworks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/text.h"
#include "launch/start/explanation.h"
#include "os/clock.h"
#include "tools/tutti/check/program.h"

namespace tutti::tool::check {

namespace {

// A file system with a large Python on it can be slow the first time.
constexpr std::chrono::seconds kPatience{5};

constexpr std::array<std::string_view, 3> kNames = {"TensorFlow", "PyTorch", "MXNet"};

// find_spec looks for a package of the first level without importing it; the version stands in its metadata. Packages
// such as tensorflow-cpu bring a module of another name, so what provides the module is asked for too.
constexpr std::string_view kScript = R"python(
import sys
import importlib.metadata as metadata
import importlib.util as util
print("python", sys.version.split()[0])
for name, module in (("TensorFlow", "tensorflow"), ("PyTorch", "torch"), ("MXNet", "mxnet")):
    try:
        if util.find_spec(module) is None:
            continue
    except Exception:
        continue
    version = "unknown"
    for package in (module, module + "-cpu", module + "-gpu", module + "-macos", "tf-nightly", "mxnet-cu112"):
        try:
            version = metadata.version(package)
            break
        except Exception:
            pass
    print(name, version)
)python";

}  // namespace

Frameworks parse_frameworks(std::string_view printed) {
  Frameworks found;
  for (const std::string_view name : kNames) found.all.push_back({std::string(name), ""});
  for (const std::string_view line : text::split(printed, '\n')) {
    const auto words = text::words(line);
    if (words.size() != 2) continue;
    if (words[0] == "python") found.python = words[1];
    for (Framework& framework : found.all) {
      if (framework.name == words[0]) framework.version = words[1];
    }
  }
  if (found.python.empty()) found.failure = "python3 has not told its version";
  return found;
}

Frameworks find_frameworks() {
  Frameworks nothing = parse_frameworks("");
  if (find_program("python3").empty()) {
    nothing.failure = "there is no python3 in PATH";
    return nothing;
  }
  const auto end = run_program({"python3", "-c", std::string(kScript)}, Deadline::after(os::now(), kPatience));
  if (!end) {
    nothing.failure = end.status().text();
  } else if (end->is_late) {
    nothing.failure = fmt::format("python3 has not answered within {} s", kPatience.count());
  } else if (end->end != os::ProcessEnd{}) {
    nothing.failure = fmt::format("python3 failed: {}", launch::last_line(end->err));
  } else {
    return parse_frameworks(end->out);
  }
  return nothing;
}

Finding finding_of(const Frameworks& frameworks) {
  if (frameworks.python.empty()) {
    return {.what = "frameworks",
            .text = fmt::format("none: {}", frameworks.failure),
            .remedy = "programs in Python need one; those in C++ and C do not"};
  }
  std::vector<std::string> here;
  std::vector<std::string> absent;
  for (const Framework& framework : frameworks.all) {
    if (framework.version.empty()) {
      absent.push_back(framework.name);
    } else {
      here.push_back(fmt::format("{} {}", framework.name, framework.version));
    }
  }
  std::string text = here.empty() ? "none" : fmt::format("{}", fmt::join(here, ", "));
  text += fmt::format(" by Python {}", frameworks.python);
  if (!absent.empty()) text += fmt::format("; not {}", fmt::join(absent, ", "));
  return {.what = "frameworks", .text = text};
}

}  // namespace tutti::tool::check
