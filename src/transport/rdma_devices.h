// Network cards of this host that read and write memory by themselves: InfiniBand and RoCE.
#pragma once

#include <string>
#include <vector>

namespace tutti::transport {

struct RdmaPort {
  std::string name;        // as UCX has it: "mlx5_0:1"
  bool is_active = false;  // there is a network on it
};

// By name. `folder` is where the kernel lists them; the default is the machine's.
std::vector<RdmaPort> find_rdma_ports(const std::string& folder = "/sys/class/infiniband");
bool has_active_port(const std::vector<RdmaPort>& ports);

}  // namespace tutti::transport
