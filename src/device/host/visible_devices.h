// Which virtual devices of the machine a process sees, and what each is called wherever it is seen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::device {

using DeviceUuid = std::array<std::uint8_t, 16>;
// Of a device of this machine: the same for all its processes, different for every device.
DeviceUuid uuid_of(int number);
// "GPU-54757474-6911-2233-4455-660000000000"
std::string uuid_text(const DeviceUuid& uuid);

// The numbers of the devices that a process sees, in its order. `list`: the value of CUDA_VISIBLE_DEVICES, numbers and
// beginnings of UUIDs; nothing: it is not set. As CUDA has it, the list ends before the first entry that names no
// device or one that was named already, and an empty list hides all.
std::vector<int> visible_devices(int count, const std::optional<std::string>& list);

}  // namespace tutti::device
