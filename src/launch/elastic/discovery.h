// Asks a script of the user again and again which hosts there are.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/job.h"
#include "launch/start/program.h"
#include "os/event_loop.h"
#include "tutti/status.h"

namespace tutti::launch {

inline constexpr std::size_t kDiscoveryBytesMax = std::size_t{16} << 20;

// What the script has printed: a host a line, "gpu1:4", or "gpu1" alone with `slots_per_host`. No line at all means
// that there are no hosts now. Pure.
Result<std::vector<Host>> parse_discovery(std::string_view text, int slots_per_host);

// On the thread of the loop, which never waits for the script. When the script fails, prints nonsense or takes too
// long, the hosts stay as they were, and `say` is told once until it works again.
class HostDiscovery {
 public:
  struct Settings {
    std::string script = {};  // a command for a shell
    int slots_per_host = 1;
    std::chrono::milliseconds pace{1000};     // from the end of one run to the next
    std::chrono::milliseconds limit{30'000};  // of one run
  };
  struct Listener {
    std::function<void(const std::vector<Host>&)> found = {};  // at first, and when they are others than before
    std::function<void(const std::string&)> say = {};          // a sentence for people
  };
  HostDiscovery(os::EventLoop& loop, Settings settings, Listener listener)
      : loop_(loop), settings_(std::move(settings)), listener_(std::move(listener)) {}
  HostDiscovery(const HostDiscovery&) = delete;
  HostDiscovery& operator=(const HostDiscovery&) = delete;
  ~HostDiscovery();

  void begin();

 private:
  Status start();
  void read();
  void end(const Status& status);
  Status outcome();

  os::EventLoop& loop_;
  Settings settings_;
  Listener listener_;
  std::unique_ptr<Program> program_;
  os::FileDescriptor output_;
  std::string text_;
  std::optional<std::vector<Host>> hosts_;
  bool has_told_ = false;
  os::EventLoop::Watch output_watch_ = {};
  os::EventLoop::Timer timer_ = {};
};

}  // namespace tutti::launch
