#include "nccl/settings_file.h"

#include <fmt/format.h>

#include "base/text.h"
#include "os/small_file.h"

namespace tutti::nccl {

namespace {

constexpr const char* kMachineFile = "/etc/nccl.conf";

}  // namespace

std::vector<FileSetting> parse_settings(std::string_view text) {
  std::vector<FileSetting> settings;
  for (const std::string_view whole : text::split(text, '\n')) {
    const std::string_view line = text::trim(whole.substr(0, whole.find('#')));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text::trim(line.substr(0, equals));
    const std::string_view value = text::trim(line.substr(equals + 1));
    if (!name.empty() && !value.empty()) settings.push_back({std::string(name), std::string(value)});
  }
  return settings;
}

std::vector<std::string> settings_files(const KnobLookup& lookup) {
  std::vector<std::string> files;
  const auto named = lookup("NCCL_CONF_FILE");
  const auto home = lookup("HOME");
  if (named && !named->empty()) {
    files.push_back(*named);
  } else if (home && !home->empty()) {
    files.push_back(fmt::format("{}/.nccl.conf", *home));
  }
  files.emplace_back(kMachineFile);
  return files;
}

std::vector<FileSetting> read_settings(const std::string& path) {
  const auto text = os::read_small_file(path);
  return text ? parse_settings(*text) : std::vector<FileSetting>();
}

}  // namespace tutti::nccl
