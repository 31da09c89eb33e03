#include "tests/nccl_programs/actor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace tutti::programs {
namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr int kGuardValue = 0xa5;
constexpr std::size_t kScalarsOfStep = 4;

bool is_default(StreamKind kind) { return kind == StreamKind::legacy || kind == StreamKind::per_thread; }

}  // namespace

Actor::Actor(const Program& program, int player) : program_(program), player_(player) {
  check(cudaSetDevice(device()), "cudaSetDevice");
  for (const StreamKind kind : program.streams) {
    cudaStream_t stream = kind == StreamKind::legacy ? nullptr : cudaStreamPerThread;
    if (kind == StreamKind::blocking) check(cudaStreamCreate(&stream), "cudaStreamCreate");
    if (kind == StreamKind::non_blocking)
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    streams_.push_back(stream);
  }
  for (int index = 0; index < program.buffer_count; ++index) {
    void* memory = nullptr;
    const std::size_t bytes = program.buffer_bytes + 2 * kGuardBytes;
    if (index % 2 == 0)
      check(cudaMalloc(&memory, bytes), "cudaMalloc");
    else
      check(cudaMallocManaged(&memory, bytes), "cudaMallocManaged");
    buffers_.push_back(static_cast<std::byte*>(memory));
    const std::vector<std::byte> content = first_content(program, player, index);
    check(cudaMemset(memory, kGuardValue, bytes), "cudaMemset");
    check(cudaMemcpy(buffers_.back() + kGuardBytes, content.data(), content.size(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }
  void* scalars = nullptr;
  check(cudaMalloc(&scalars, 8 * kScalarsOfStep * (program.steps.size() + 1)), "cudaMalloc");
  scalars_ = static_cast<std::byte*>(scalars);
  last_streams_.assign(static_cast<std::size_t>(program.buffer_count), 0);
  comms_.assign(program.comms.size(), nullptr);
}

Actor::~Actor() {
  cudaSetDevice(device());
  for (std::size_t index = 0; index < streams_.size(); ++index) {
    cudaStreamSynchronize(streams_[index]);
    if (!is_default(program_.streams[index])) cudaStreamDestroy(streams_[index]);
  }
  for (std::byte* buffer : buffers_) cudaFree(buffer);
  cudaFree(scalars_);
}

void Actor::check(cudaError_t error, const char* what) {
  if (error == cudaSuccess || !problem_.empty()) return;
  problem_ = fmt::format("player {}: {} said {}", player_, what, cudaGetErrorString(error));
}

std::byte* Actor::at(const Place& place) const {
  return buffers_[static_cast<std::size_t>(place.buffer)] + kGuardBytes + place.offset;
}

std::byte* Actor::scalar(std::size_t step, std::size_t call) const {
  return scalars_ + 8 * (step * kScalarsOfStep + call);
}

bool Actor::is_ordered_anyway(int before, int after) const {
  const StreamKind one = program_.streams[static_cast<std::size_t>(before)];
  const StreamKind other = program_.streams[static_cast<std::size_t>(after)];
  if (one == StreamKind::non_blocking || other == StreamKind::non_blocking) return false;
  return one == StreamKind::legacy || other == StreamKind::legacy;
}

void Actor::follow(int before, int after) {
  if (before == after) return;
  const bool is_ordered = is_ordered_anyway(before, after);
  if (is_ordered && program_.streams[static_cast<std::size_t>(after)] != StreamKind::legacy) return;
  cudaEvent_t event = nullptr;
  check(cudaSetDevice(device()), "cudaSetDevice");
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  // Calls that have nothing to do put nothing on the default stream, which then orders nothing: the event does.
  check(cudaEventRecord(event, stream(is_ordered ? after : before)), "cudaEventRecord");
  if (!is_ordered) check(cudaStreamWaitEvent(stream(after), event, 0), "cudaStreamWaitEvent");
  check(cudaEventDestroy(event), "cudaEventDestroy");  // what waits for it goes on waiting
}

void Actor::take(int buffer, int stream) {
  int& last = last_streams_[static_cast<std::size_t>(buffer)];
  follow(last, stream);
  last = stream;
}

void Actor::write(std::byte* target, std::vector<std::byte> bytes, int stream_index) {
  if (bytes.empty()) return;
  kept_.push_back(std::move(bytes));
  check(cudaSetDevice(device()), "cudaSetDevice");
  check(cudaMemcpyAsync(target, kept_.back().data(), kept_.back().size(), cudaMemcpyHostToDevice, stream(stream_index)),
        "cudaMemcpyAsync");
}

void Actor::copy(const Copy& copy) {
  take(copy.source.buffer, copy.stream);
  take(copy.target.buffer, copy.stream);
  check(cudaSetDevice(device()), "cudaSetDevice");
  check(cudaMemcpyAsync(at(copy.target), at(copy.source), copy.bytes, cudaMemcpyDeviceToDevice, stream(copy.stream)),
        "cudaMemcpyAsync");
}

void Actor::set(const Set& set) {
  take(set.target.buffer, set.stream);
  check(cudaSetDevice(device()), "cudaSetDevice");
  check(cudaMemsetAsync(at(set.target), set.value, set.bytes, stream(set.stream)), "cudaMemsetAsync");
}

void Actor::await(const Wait& wait) {
  check(cudaSetDevice(device()), "cudaSetDevice");
  const cudaStream_t stream_of_it = stream(wait.stream);
  cudaEvent_t event = nullptr;
  cudaError_t error = cudaErrorNotReady;
  switch (wait.kind) {
    case WaitKind::stream: return check(cudaStreamSynchronize(stream_of_it), "cudaStreamSynchronize");
    case WaitKind::device: return check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    case WaitKind::query:
      while ((error = cudaStreamQuery(stream_of_it)) == cudaErrorNotReady) std::this_thread::yield();
      return check(error, "cudaStreamQuery");
    case WaitKind::event: break;
  }
  check(cudaEventCreate(&event), "cudaEventCreate");
  check(cudaEventRecord(event, stream_of_it), "cudaEventRecord");
  check(cudaEventSynchronize(event), "cudaEventSynchronize");
  check(cudaEventDestroy(event), "cudaEventDestroy");
}

void Actor::wait(const Wait& wait, const std::vector<std::uint64_t>& checksums) {
  await(wait);
  for (std::size_t index = 0; index < buffers_.size(); ++index) {
    if (last_streams_[index] != wait.stream || !problem_.empty()) continue;
    const std::byte* bytes = buffers_[index] + kGuardBytes;
    if (checksum_of({bytes, program_.buffer_bytes}) != checksums[index])
      problem_ = fmt::format("player {}: buffer {} is not what it must be when stream {} was waited for", player_,
                             index, wait.stream);
  }
}

void Actor::begin_capture(int index) {
  check(cudaSetDevice(device()), "cudaSetDevice");
  check(cudaStreamBeginCapture(stream(index), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

void Actor::replay(int index, int times) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t runnable = nullptr;
  check(cudaSetDevice(device()), "cudaSetDevice");
  check(cudaStreamEndCapture(stream(index), &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&runnable, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  for (int time = 0; time < times; ++time) check(cudaGraphLaunch(runnable, stream(index)), "cudaGraphLaunch");
  check(cudaGraphExecDestroy(runnable), "cudaGraphExecDestroy");  // what runs of it goes on
}

void Actor::settle() {
  check(cudaSetDevice(device()), "cudaSetDevice");
  for (const cudaStream_t one : streams_) check(cudaStreamSynchronize(one), "cudaStreamSynchronize");
}

void Actor::compare(const Expected::Buffers& expected) {
  settle();
  for (std::size_t index = 0; index < buffers_.size() && problem_.empty(); ++index) {
    std::vector<std::byte> whole(program_.buffer_bytes + 2 * kGuardBytes, std::byte{kGuardValue});
    std::ranges::copy(expected[index], whole.begin() + kGuardBytes);
    const auto [here, wanted] =
        std::mismatch(buffers_[index], buffers_[index] + whole.size(), whole.begin(), whole.end());
    if (wanted == whole.end()) continue;
    problem_ = fmt::format("player {}: buffer {} has {:#x} in place of {:#x} at {} of {} bytes", player_, index,
                           static_cast<int>(*here), static_cast<int>(*wanted),
                           here - buffers_[index] - static_cast<std::ptrdiff_t>(kGuardBytes), program_.buffer_bytes);
  }
}

}  // namespace tutti::programs
