// What a run ran on and with, as far as its setup says it, and what to check when it is slow there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/perf/results.h"

namespace tutti::perf {

enum class Library : std::uint8_t { unknown, tutti, nccl };

struct Surroundings {
  Library library = Library::unknown;
  std::size_t ranks = 0;
  std::size_t hosts = 1;
  std::optional<std::size_t> cores;  // of the host that wrote the setup
  bool has_settings = false;         // false: a log, which does not tell them
  std::vector<std::pair<std::string, std::string>> settings;

  bool has_fewer_cores_than_ranks() const { return library != Library::nccl && hosts == 1 && cores && *cores < ranks; }
};
Surroundings surroundings_of(const Run& run);

// "NCCL_IB_HCA (unset)", "NCCL_IB_HCA (now mlx5_0)", or the name alone where a log does not tell settings.
std::string setting_text(const Surroundings& surroundings, std::string_view name);

// A network interface that cannot be meant, such as docker0 between hosts: a sentence, or nothing.
std::optional<std::string> wrong_interface(const Surroundings& surroundings);

// What to check, for each thing that looks wrong.
std::string remedy_for_bandwidth(const Surroundings& surroundings);
std::string remedy_for_latency(const Surroundings& surroundings);
std::string remedy_for_dip(const Surroundings& surroundings, bool is_certain);
std::string remedy_for_noise(const Surroundings& surroundings);

}  // namespace tutti::perf
