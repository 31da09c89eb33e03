#include "bench/comparison/load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "bench/peers/measure.h"

namespace tutti::bench {

namespace {

// The first line of /proc/stat: user, nice, system, idle, waiting for a disk, interrupts, soft interrupts, stolen by
// other virtual machines.
double busy_s() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  double ticks = 0;
  for (int field = 0; field < 8; ++field) {
    double value = 0;
    file >> value;
    const bool is_idle = field == 3 || field == 4;
    if (!is_idle) ticks += value;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_s() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
  }
  return seconds;
}

}  // namespace

LoadMeter::LoadMeter() : begin_s_(now_s()), busy_s_(busy_s()), own_s_(own_s()) {}

double LoadMeter::foreign_cores() const {
  const double foreign_s = busy_s() - busy_s_ - (own_s() - own_s_);
  return std::max(0.0, foreign_s / (now_s() - begin_s_));
}

}  // namespace tutti::bench
