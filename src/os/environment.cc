#include "os/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

namespace tutti::os {

namespace {

struct Supplied {
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> values;
};

Supplied& supplied() {
  static Supplied* supplied = new Supplied;  // never destroyed: settings are read until the process ends
  return *supplied;
}

}  // namespace

std::optional<std::string> environment_variable(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  if (value != nullptr) return value;
  const std::lock_guard lock(supplied().mutex);
  const auto found = supplied().values.find(name);
  return found == supplied().values.end() ? std::nullopt : std::optional(found->second);
}

void supply_variable(std::string_view name, std::string_view value) {
  const std::lock_guard lock(supplied().mutex);
  supplied().values.emplace(name, value);
}

std::vector<std::string> environment_names(std::string_view prefix) {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with(prefix)) names.emplace_back(text.substr(0, text.find('=')));
  }
  {
    const std::lock_guard lock(supplied().mutex);
    for (const auto& [name, value] : supplied().values) {
      if (name.starts_with(prefix)) names.push_back(name);
    }
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace tutti::os
