// What `tutti check` finds of this build, its processor and its devices.
#pragma once

#include <string>

#include "tools/tutti/check/finding.h"

namespace tutti::tool::check {

Finding find_build();
Finding find_instructions();
Finding find_cores();
Finding find_caches();
Finding find_transports();

// GPUs as the driver lists them below `proc`, and which of them this process has in `dev`.
struct Gpus {
  int listed = 0;
  int usable = 0;
  std::string model = {};   // of the first
  std::string driver = {};  // its version
};
Gpus find_gpus(const std::string& proc = "/proc/driver/nvidia", const std::string& dev = "/dev");
std::string text_of(const Gpus& gpus);  // "8 NVIDIA H100", "none"
Finding find_devices();

std::string kernel_release();
std::string architecture();

}  // namespace tutti::tool::check
