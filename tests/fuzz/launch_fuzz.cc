// Any lines NAME=VALUE as an environment: a launch or a sentence comes out, and a launch makes sense.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "base/text.h"
#include "bootstrap/env/launch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::map<std::string_view, std::string_view> environment;
  for (const std::string_view line : text::split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals != std::string_view::npos) environment.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  const auto result = bootstrap::launch_of([&](std::string_view name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return std::string(found->second);
  });
  if (!result && result.status().text().find('\n') != std::string_view::npos) std::abort();
  if (!result || !*result) return 0;
  const bootstrap::Launch& launch = **result;
  const bool is_placed = launch.rank >= 0 && launch.rank < launch.size && launch.local_rank >= 0 &&
                         launch.local_rank < launch.local_size && launch.local_size <= launch.size;
  if (!is_placed || launch.launcher.empty()) std::abort();
  return 0;
}
