// who: finds its place in the job that it was started in, exchanges a word with all other processes of it and prints
// what it has learned, as "rank 1 of 4, 1 of 2 here, by srun: host0 host0 host1 host1".
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "base/knobs.h"
#include "bootstrap/env/launch.h"
#include "bootstrap/env/launched_store.h"
#include "bootstrap/exchange.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/log_sink.h"

namespace tutti::bootstrap {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

Status run() {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  TUTTI_ASSIGN(const auto found, launch_of(os::environment_variable));
  if (!found) {
    fmt::print("alone\n");
    return {};
  }
  Launch launch = *found;
  const Deadline deadline = Deadline::after(os::now(), knobs.start_timeout());
  TUTTI_ASSIGN(const auto store, open_launched_store(launch, deadline));
  TUTTI_TRY(find_local_place(launch, *store, deadline));
  const std::string name = host_name();
  TUTTI_ASSIGN(const auto words, exchange(*store, "who", launch.rank, launch.size, bytes_of(name), deadline));
  std::string line = fmt::format("rank {} of {}, {} of {} here, by {}:", launch.rank, launch.size, launch.local_rank,
                                 launch.local_size, launch.launcher);
  for (const Bytes& word : words) line += fmt::format(" {}", text_of(word));
  fmt::print("{}\n", line);  // in one piece, so that lines of several processes do not mix
  return leave(*store, launch.size);
}

}  // namespace
}  // namespace tutti::bootstrap

int main() {
  const tutti::Status status = tutti::bootstrap::run();
  if (status) return 0;
  fmt::print(stderr, "who: {}\n", status.text());
  return 1;
}
