// What a virtual device says about itself.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>
#include <string_view>

namespace tutti::cudart {

cudaDeviceProp properties_of(int device);
// nullopt: there is no such attribute.
std::optional<int> attribute_of(int device, cudaDeviceAttr attribute);

// "0000:01:00.0", another one for every device.
std::string bus_id_of(int device);
// Any way that CUDA takes it: with or without domain and function. nullopt: it is no bus id; -1: no device has it.
std::optional<int> device_of_bus_id(std::string_view id);

}  // namespace tutti::cudart
