#include "launch/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/assert.h"
#include "base/knobs.h"
#include "bootstrap/env/claim.h"

namespace tutti::launch {
namespace {

// Linux takes no variable of 128 KiB or more, and no program starts with one. A larger world has no TF_CONFIG.
constexpr std::size_t kConfigBytesMax = std::size_t{120} << 10;

struct Place {
  Rank size = 0;
  Rank local_size = 0;
  Rank cross_rank = 0;  // among the ranks with the same local rank, one on each host
  Rank cross_size = 0;
};

Place place_of(const Layout& layout, const Seat& seat) {
  Place place{.size = layout.size()};
  for (const Seat& other : layout.seats) {
    if (other.host == seat.host) ++place.local_size;
    if (other.local_rank != seat.local_rank) continue;
    ++place.cross_size;
    if (other.host < seat.host) ++place.cross_rank;
  }
  return place;
}

class List {
 public:
  explicit List(const Variables& user) : user_(user) {}
  void add(std::string_view name, std::string value) {
    const auto is_it = [&](const auto& variable) { return variable.first == name; };
    if (std::ranges::none_of(user_, is_it)) variables_.emplace_back(name, std::move(value));
  }
  void add(std::string_view name, std::int64_t value) { add(name, std::to_string(value)); }
  Variables take() && { return std::move(variables_); }

 private:
  const Variables& user_;
  Variables variables_;
};

std::uint16_t port_of(const HostFacts& host, std::size_t index) {
  TUTTI_ASSERT(index < host.ports.size(), "agents tell a port for each rank, and the first one more");
  return host.ports[index];
}

// The cluster of workers, one for each rank; empty where it would be too long.
std::string tensorflow_config(const Layout& layout, const WorldFacts& facts, const Seat& seat) {
  nlohmann::json workers = nlohmann::json::array();
  std::size_t bytes = 0;
  for (const Seat& other : layout.seats) {
    const HostFacts& host = facts.hosts[other.host];
    std::string address =
        bootstrap::meeting_address(host.address, port_of(host, static_cast<std::size_t>(other.local_rank)));
    bytes += address.size() + 3;  // quotes and a comma
    if (bytes > kConfigBytesMax) return "";
    workers.push_back(std::move(address));
  }
  const nlohmann::json config = {{"cluster", {{"worker", std::move(workers)}}},
                                 {"task", {{"type", "worker"}, {"index", seat.rank}}}};
  return config.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
}

void add_tutti(List& list, const WorldFacts& facts, const Seat& seat, const Place& place) {
  list.add("TUTTI_RANK", seat.rank);
  list.add("TUTTI_SIZE", place.size);
  list.add("TUTTI_LOCAL_RANK", seat.local_rank);
  list.add("TUTTI_LOCAL_SIZE", place.local_size);
  list.add("TUTTI_STORE", facts.store);
  list.add("TUTTI_JOB", facts.job);
  list.add("TUTTI_JOB_ID", facts.job);  // by which flight recorders are named
  // So that every rank of a host without GPUs has a device of its own.
  if (place.local_size > Knobs::standard().virtual_devices()) {
    const auto most = static_cast<Rank>(all_knobs()[static_cast<std::size_t>(KnobId::virtual_devices)].most);
    list.add("TUTTI_VIRTUAL_DEVICES", std::min(place.local_size, most));
  }
}

void add_torch(List& list, const Layout& layout, const WorldFacts& facts, const Seat& seat, const Place& place) {
  list.add("RANK", seat.rank);
  list.add("WORLD_SIZE", place.size);
  list.add("LOCAL_RANK", seat.local_rank);
  list.add("LOCAL_WORLD_SIZE", place.local_size);
  list.add("GROUP_RANK", seat.host);
  list.add("GROUP_WORLD_SIZE", static_cast<std::int64_t>(layout.hosts.size()));
  list.add("NODE_RANK", seat.host);
  list.add("ROLE_NAME", "default");
  list.add("ROLE_RANK", seat.rank);
  list.add("ROLE_WORLD_SIZE", place.size);
  // Rank 0 listens there itself, as PyTorch does by itself: the port is that of the first host beyond those of its
  // ranks.
  const HostIndex first = layout.seats.front().host;
  list.add("MASTER_ADDR", facts.hosts[first].address);
  list.add("MASTER_PORT", port_of(facts.hosts[first], static_cast<std::size_t>(layout.local_size(first))));
  list.add("TORCHELASTIC_RUN_ID", facts.job);
  list.add("TORCHELASTIC_RESTART_COUNT", facts.restart + facts.generation);
  list.add("TORCHELASTIC_MAX_RESTARTS", facts.restarts_max);
}

// Without the names of Gloo's rendezvous server: there is none, and ranks meet at TUTTI_STORE.
void add_horovod(List& list, const Layout& layout, const Seat& seat, const Place& place) {
  list.add("HOROVOD_RANK", seat.rank);
  list.add("HOROVOD_SIZE", place.size);
  list.add("HOROVOD_LOCAL_RANK", seat.local_rank);
  list.add("HOROVOD_LOCAL_SIZE", place.local_size);
  list.add("HOROVOD_CROSS_RANK", place.cross_rank);
  list.add("HOROVOD_CROSS_SIZE", place.cross_size);
  list.add("HOROVOD_HOSTNAME", layout.hosts[seat.host].name);
  list.add("HOROVOD_CONTROLLER", "gloo");
  list.add("HOROVOD_CPU_OPERATIONS", "gloo");
}

void add_mpi(List& list, const Seat& seat, const Place& place) {
  list.add("OMPI_COMM_WORLD_RANK", seat.rank);
  list.add("OMPI_COMM_WORLD_SIZE", place.size);
  list.add("OMPI_COMM_WORLD_LOCAL_RANK", seat.local_rank);
  list.add("OMPI_COMM_WORLD_LOCAL_SIZE", place.local_size);
  list.add("OMPI_COMM_WORLD_NODE_RANK", seat.local_rank);
  list.add("PMI_RANK", seat.rank);
  list.add("PMI_SIZE", place.size);
  list.add("MPI_LOCALRANKID", seat.local_rank);
  list.add("MPI_LOCALNRANKS", place.local_size);
}

}  // namespace

Variables variables_of(const Layout& layout, const WorldFacts& facts, const Seat& seat, const Variables& user) {
  TUTTI_ASSERT(facts.hosts.size() == layout.hosts.size() && !layout.seats.empty(), "facts are of this layout");
  const Place place = place_of(layout, seat);
  List list(user);
  add_tutti(list, facts, seat, place);
  add_torch(list, layout, facts, seat, place);
  add_horovod(list, layout, seat, place);
  add_mpi(list, seat, place);
  if (std::string config = tensorflow_config(layout, facts, seat); !config.empty()) {
    list.add("TF_CONFIG", std::move(config));
  }
  return std::move(list).take();
}

}  // namespace tutti::launch
