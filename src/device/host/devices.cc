#include "device/host/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/knobs.h"
#include "device/host/executor.h"
#include "device/host/visible_devices.h"
#include "os/environment.h"

namespace tutti::device {
namespace {

// A setting that cannot be read is an error of the first communicator, which names it; until then it counts as unset.
std::vector<int> numbers_of_settings() {
  const auto knobs = Knobs::read(os::environment_variable);
  const int count = (knobs ? *knobs : Knobs::standard()).virtual_devices();
  return visible_devices(count, os::environment_variable("CUDA_VISIBLE_DEVICES"));
}

thread_local int current_device = 0;

// Most calls of a thread are about the stream that the last one was about. It is kept until the thread finds another,
// so that a stream that was destroyed may outlive that.
struct Found {
  Devices::Handle handle = nullptr;
  std::uint64_t version = 0;
  std::shared_ptr<HostStream> stream;
};
thread_local Found last_found;

}  // namespace

// What is left when a thread ends: its streams go with it.
struct Devices::ThreadEnd {
  ~ThreadEnd() { of_process().forget_thread(thread_number()); }
};

std::uint64_t Devices::thread_number() {
  static std::atomic<std::uint64_t> count = 0;
  thread_local const std::uint64_t number = ++count;
  return number;
}

// Device 0 has a stream even if it is hidden: calls may look for it before they learn that there is none.
Devices::Devices(std::vector<int> numbers) : numbers_(std::move(numbers)), count_(static_cast<int>(numbers_.size())) {
  for (int device = 0; device < std::max(count_, 1); ++device)
    legacy_.push_back(std::make_shared<HostStream>(device, HostStream::Kind::legacy, 0));
}

Devices& Devices::of_process() {
  // Never destroyed: threads of the program may use streams until the very end.
  static Devices& devices = *new Devices(numbers_of_settings());
  return devices;
}

Status Devices::check_any() const {
  if (count_ > 0) return {};
  return {Code::device,
          "this process sees no device: CUDA_VISIBLE_DEVICES names none that exists; unset it to see all"};
}

int Devices::find_number(int number) const {
  const auto found = std::ranges::find(numbers_, number);
  return found == numbers_.end() ? -1 : static_cast<int>(found - numbers_.begin());
}

int Devices::current() const { return current_device; }

Status Devices::set_current(int device) {
  if (device < 0 || device >= count_)
    return invalid_argument(
        fmt::format("device {} is not one of the {} virtual devices of this process; TUTTI_VIRTUAL_DEVICES says how "
                    "many there are, and CUDA_VISIBLE_DEVICES which of them it sees",
                    device, count_));
  current_device = device;
  return {};
}

// What the default stream was given before the stream existed comes first.
std::shared_ptr<HostStream> Devices::new_blocking_stream(int device, int priority) {
  auto stream = std::make_shared<HostStream>(device, HostStream::Kind::blocking, priority);
  const auto& legacy = legacy_[static_cast<std::size_t>(device)];
  if (!legacy->is_idle())
    Executor::of_process().submit(std::make_shared<FunctionTask>([] {}), std::vector{legacy, stream});
  return stream;
}

Devices::Handle Devices::create_stream(int device, HostStream::Kind kind, int priority) {
  auto stream = kind == HostStream::Kind::blocking ? new_blocking_stream(device, priority)
                                                   : std::make_shared<HostStream>(device, kind, priority);
  const std::lock_guard lock(mutex_);
  const auto handle = reinterpret_cast<Handle>(next_handle_ += kHandleStep);
  streams_.emplace(handle, std::move(stream));
  return handle;
}

bool Devices::destroy_stream(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(handle);
  if (found == streams_.end()) return false;
  bury(found->second);
  streams_.erase(found);
  version_.fetch_add(1, std::memory_order_release);
  return true;
}

void Devices::destroy_streams_of(int device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [&](const auto& entry) {
    if (entry.second->device() != device) return false;
    bury(entry.second);
    return true;
  });
  version_.fetch_add(1, std::memory_order_release);
}

// With the mutex held: it is waited for as long as something is on it.
void Devices::bury(const std::shared_ptr<HostStream>& stream) {
  std::erase_if(destroyed_, [](const auto& one) { return one.expired(); });
  if (!stream->is_idle()) destroyed_.push_back(stream);
}

void Devices::forget_thread(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = threads_.find(number);
  if (found == threads_.end()) return;
  for (const auto& stream : found->second)
    if (stream != nullptr) bury(stream);
  threads_.erase(found);
}

std::shared_ptr<HostStream> Devices::default_stream(Handle handle, int number) {
  const auto device = static_cast<std::size_t>(number);
  if (handle != kPerThread) return legacy_[device];
  static thread_local const ThreadEnd at_end{};
  const std::lock_guard lock(mutex_);
  auto& own = threads_[thread_number()];
  own.resize(legacy_.size());
  if (own[device] == nullptr) own[device] = new_blocking_stream(number, 0);
  return own[device];
}

std::shared_ptr<HostStream> Devices::find_stream(Handle handle, int device) {
  if (handle == nullptr || handle == kLegacy || handle == kPerThread) return default_stream(handle, device);
  // acquire: whoever has heard of a destruction sees it
  const std::uint64_t version = version_.load(std::memory_order_acquire);
  if (last_found.handle == handle && last_found.version == version) return last_found.stream;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(handle);
  if (found == streams_.end()) return nullptr;
  last_found = {handle, version, found->second};
  return found->second;
}

bool Devices::is_known_to_rest(Handle handle) const {
  const Found& last = last_found;
  if (last.handle != handle || last.version != version_.load(std::memory_order_acquire)) return false;
  return last.stream != nullptr && last.stream->is_at_rest();
}

std::vector<std::shared_ptr<HostStream>> Devices::streams_of(int device) {
  std::vector<std::shared_ptr<HostStream>> all = {legacy_[static_cast<std::size_t>(device)]};
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, stream] : streams_)
    if (stream->device() == device) all.push_back(stream);
  for (const auto& [thread, own] : threads_)
    if (const auto& stream = own[static_cast<std::size_t>(device)]; stream != nullptr) all.push_back(stream);
  for (const auto& weak : destroyed_)
    if (auto stream = weak.lock(); stream != nullptr && stream->device() == device) all.push_back(std::move(stream));
  return all;
}

std::vector<std::shared_ptr<HostStream>> Devices::order_of(const std::shared_ptr<HostStream>& stream) {
  if (stream->kind() != HostStream::Kind::legacy) return {stream};
  auto all = streams_of(stream->device());
  std::erase_if(all, [](const auto& one) { return one->kind() == HostStream::Kind::non_blocking; });
  return all;
}

}  // namespace tutti::device
