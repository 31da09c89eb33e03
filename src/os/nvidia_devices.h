// How many GPUs of NVIDIA this machine has, without any of their libraries.
#pragma once

#include <string>

namespace tutti::os {

// The device nodes /dev/nvidia0 and so on, of which a container has only its own; without any what the driver shows.
int count_nvidia_devices();
// The same with other folders for /proc/driver/nvidia/gpus and /dev.
int count_nvidia_devices(const std::string& driver_folder, const std::string& node_folder);

}  // namespace tutti::os
