#include "tools/perf/processes.h"

#include <fmt/format.h>

#include <span>

#include "base/knobs.h"
#include "bootstrap/env/launch.h"
#include "bootstrap/env/launched_store.h"
#include "bootstrap/exchange.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/machine.h"

namespace tutti::perf {

namespace {

Result<Deadline> start_deadline() {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  return Deadline::after(os::now(), knobs.start_timeout());
}

void tell(std::string_view line) { fmt::print(stderr, "{}\n", line); }

}  // namespace

Result<Processes> Processes::join() {
  Processes processes;
  TUTTI_ASSIGN(const auto launch, bootstrap::launch_of(os::environment_variable));
  if (!launch || launch->size == 1) return processes;
  processes.rank_ = static_cast<int>(launch->rank);
  processes.size_ = static_cast<int>(launch->size);
  TUTTI_ASSIGN(const Deadline deadline, start_deadline());
  TUTTI_ASSIGN(processes.store_, bootstrap::open_launched_store(*launch, deadline));
  return processes;
}

Result<std::vector<std::string>> Processes::exchange(std::string_view what, std::string_view mine) {
  if (store_ == nullptr) return std::vector{std::string(mine)};
  TUTTI_ASSIGN(const Deadline deadline, start_deadline());
  TUTTI_ASSIGN(const auto all, bootstrap::exchange(*store_, what, static_cast<Rank>(rank_), static_cast<Rank>(size_),
                                                   std::as_bytes(std::span(mine)), deadline, tell));
  std::vector<std::string> result;
  for (const Bytes& bytes : all) result.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return result;
}

Status Processes::leave() {
  if (store_ == nullptr) return {};
  const Status status = bootstrap::leave(*store_, static_cast<Rank>(size_));
  store_.reset();
  return status;
}

std::string host_identity() {
  const os::Machine& machine = os::this_machine();
  return machine.host + " " + machine.boot_id;
}

}  // namespace tutti::perf
