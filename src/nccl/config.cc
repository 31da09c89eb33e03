#include "nccl/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>

#include "nccl/environment.h"

namespace tutti::nccl {
namespace {

constexpr unsigned int kMagic = 0xcafebeef;
// A version that is far from any that exists means that the struct was not initialised.
constexpr unsigned int kVersionMin = NCCL_VERSION(2, 14, 0);
constexpr unsigned int kVersionMax = NCCL_VERSION(3, 0, 0);
constexpr std::size_t kBytesMin = offsetof(ncclConfig_t, blocking) + sizeof(int);
constexpr std::size_t kBytesMax = 4096;

struct Field {
  const char* name;
  int ncclConfig_t::*member;
  int least;
  int most;
};
constexpr int kAny = std::numeric_limits<int>::max();
constexpr std::array<Field, 12> kFields = {{{"blocking", &ncclConfig_t::blocking, 0, 1},
                                            {"cgaClusterSize", &ncclConfig_t::cgaClusterSize, 0, 8},
                                            {"minCTAs", &ncclConfig_t::minCTAs, 1, kAny},
                                            {"maxCTAs", &ncclConfig_t::maxCTAs, 1, kAny},
                                            {"splitShare", &ncclConfig_t::splitShare, 0, 1},
                                            {"trafficClass", &ncclConfig_t::trafficClass, 0, kAny},
                                            {"collnetEnable", &ncclConfig_t::collnetEnable, 0, 1},
                                            {"CTAPolicy", &ncclConfig_t::CTAPolicy, 0, 3},
                                            {"shrinkShare", &ncclConfig_t::shrinkShare, 0, 1},
                                            {"nvlsCTAs", &ncclConfig_t::nvlsCTAs, 1, kAny},
                                            {"nChannelsPerNetPeer", &ncclConfig_t::nChannelsPerNetPeer, 1, 1024},
                                            {"nvlinkCentricSched", &ncclConfig_t::nvlinkCentricSched, 0, 1}}};

Status validate(const ncclConfig_t& config) {
  for (const Field& field : kFields) {
    const int value = config.*field.member;
    if (value == NCCL_CONFIG_UNDEF_INT || (value >= field.least && value <= field.most)) continue;
    const std::string most = field.most == kAny ? "more" : std::to_string(field.most);
    return invalid_argument(fmt::format("{} of the configuration is {}; it takes {} {} {}", field.name, value,
                                        field.least, field.most == kAny ? "or" : "to", most));
  }
  const bool has_both = config.minCTAs != NCCL_CONFIG_UNDEF_INT && config.maxCTAs != NCCL_CONFIG_UNDEF_INT;
  if (has_both && config.minCTAs > config.maxCTAs)
    return invalid_argument(
        fmt::format("minCTAs of the configuration is {}, more than maxCTAs, {}", config.minCTAs, config.maxCTAs));
  return {};
}

}  // namespace

Result<Config> standard_config() {
  TUTTI_ASSIGN(const Environment environment, environment_of_process());
  Config config;
  config.is_blocking = environment.is_blocking.value_or(true);
  return config;
}

Result<Config> config_of(const ncclConfig_t* given, const Config& inherited) {
  if (given == nullptr) return inherited;
  if (given->magic != kMagic || given->version < kVersionMin || given->version >= kVersionMax ||
      given->size < kBytesMin || given->size > kBytesMax)
    return invalid_argument(
        "the configuration was not initialised; begin with ncclConfig_t config = NCCL_CONFIG_INITIALIZER");
  // A program of an older version has fewer members, one of a newer version more, behind those that are known here.
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  std::memcpy(static_cast<void*>(&config), given, std::min(given->size, sizeof(config)));
  TUTTI_TRY(validate(config));
  Config asked = inherited;
  if (config.blocking != NCCL_CONFIG_UNDEF_INT) asked.is_blocking = config.blocking != 0;
  if (config.splitShare != NCCL_CONFIG_UNDEF_INT) asked.shares_resources = config.splitShare != 0;
  if (config.commName != nullptr) asked.name = config.commName;
  if (config.netName != nullptr) asked.network = config.netName;
  return asked;
}

}  // namespace tutti::nccl
