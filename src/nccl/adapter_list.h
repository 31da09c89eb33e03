// NCCL_IB_HCA in the words of UCX.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::nccl {

// The ports of this host's RDMA adapters as UCX names them: "mlx5_0:1". Empty where there are none.
std::vector<std::string> find_adapters();

// Those that are meant: "mlx5" (all whose names begin so), "=mlx5_0:1,mlx5_1" (exactly these), "^mlx5_3" and "^=mlx5_3"
// (all but). What follows the port says nothing to UCX. The result is a value of UCX_NET_DEVICES; empty: nothing fits.
std::string ucx_devices_of(std::string_view text, std::span<const std::string> adapters);

}  // namespace tutti::nccl
