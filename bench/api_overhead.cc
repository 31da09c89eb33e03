// What the NCCL interface costs over the C++ one: the same all-reduce through both, in turns. And what a group of calls
// of many devices on one thread saves over single ones. Run: bench_api_overhead
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/peers/measure.h"
#include "tutti/communicator.h"

namespace {

using tutti::bench::now_s;

constexpr double kOverheadNsMax = 200;

struct Options {
  int repeats = 31;
  int calls = 20000;
};

void check(ncclResult_t result) {
  if (result == ncclSuccess) return;
  fmt::print(stderr, "bench_api_overhead: {}\n", ncclGetLastError(nullptr));
  std::exit(1);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Nanoseconds per call.
double time_ns(int calls, const std::function<void()>& call) {
  const double begin = now_s();
  for (int i = 0; i < calls; ++i) call();
  return (now_s() - begin) / calls * 1e9;
}

struct Pair {
  double ours;
  double nccl;
};

// Medians of runs that take turns.
Pair interleave(const Options& options, const std::function<void()>& ours, const std::function<void()>& nccl) {
  std::vector<double> our_times, nccl_times;
  for (int i = 0; i < options.repeats; ++i) {
    our_times.push_back(time_ns(options.calls, ours));
    nccl_times.push_back(time_ns(options.calls, nccl));
  }
  return {median(our_times), median(nccl_times)};
}

Pair one_rank(const Options& options) {
  auto communicators = tutti::Communicator::create_local(1);
  ncclComm_t comm = nullptr;
  check(ncclCommInitAll(&comm, 1, nullptr));
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  std::vector<float> data(2, 1);
  const Pair pair = interleave(
      options, [&] { static_cast<void>((*communicators)[0].all_reduce(std::span<float>(data))); },
      [&] {
        ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat, ncclSum, comm, stream);
        cudaStreamSynchronize(stream);
      });
  check(ncclCommDestroy(comm));
  return pair;
}

// Rank 1 runs on a thread of its own and does what rank 0 does.
Pair two_ranks(const Options& options) {
  auto communicators = tutti::Communicator::create_local(2);
  std::vector<ncclComm_t> comms(2);
  check(ncclCommInitAll(comms.data(), 2, nullptr));
  const auto side = [&](std::size_t rank) {
    cudaSetDevice(static_cast<int>(rank));
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    auto data = std::make_shared<std::vector<float>>(2, 1);
    return interleave(
        options, [&, data] { static_cast<void>((*communicators)[rank].all_reduce(std::span<float>(*data))); },
        [&, data, stream] {
          ncclAllReduce(data->data(), data->data(), data->size(), ncclFloat, ncclMax, comms[rank], stream);
          cudaStreamSynchronize(stream);
        });
  };
  std::thread other([&] { side(1); });
  const Pair pair = side(0);
  other.join();
  for (const ncclComm_t comm : comms) check(ncclCommDestroy(comm));
  return pair;
}

// `ours` is here one group of all devices, `nccl` a call of each.
Pair grouped(const Options& options, int devices) {
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(devices));
  std::vector<cudaStream_t> streams(comms.size());
  std::vector<float> data(comms.size() * 64, 1);
  check(ncclCommInitAll(comms.data(), devices, nullptr));
  for (int device = 0; device < devices; ++device) {
    cudaSetDevice(device);
    cudaStreamCreate(&streams[static_cast<std::size_t>(device)]);
  }
  const auto call_all = [&] {
    for (std::size_t i = 0; i < comms.size(); ++i)
      ncclAllReduce(&data[i * 64], &data[i * 64], 2, ncclFloat, ncclMax, comms[i], streams[i]);
  };
  const auto wait_all = [&] {
    for (const cudaStream_t stream : streams) cudaStreamSynchronize(stream);
  };
  const Pair pair = interleave(
      options,
      [&] {
        ncclGroupStart();
        call_all();
        ncclGroupEnd();
        wait_all();
      },
      [&] {
        call_all();
        wait_all();
      });
  for (const ncclComm_t comm : comms) check(ncclCommDestroy(comm));
  return pair;
}

// What this process has in memory now, in MiB.
double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// A communicator of many devices in one process: its start, and its first call.
void print_start(int devices) {
  const double before = resident_mib();
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(devices));
  std::vector<float> data(comms.size(), 1);
  const double begin = now_s();
  check(ncclCommInitAll(comms.data(), devices, nullptr));
  const double started = now_s();
  const double after = resident_mib();
  check(ncclGroupStart());
  for (std::size_t i = 0; i < comms.size(); ++i)
    check(ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], nullptr));
  check(ncclGroupEnd());
  for (int device = 0; device < devices; ++device) {
    cudaSetDevice(device);
    cudaStreamSynchronize(nullptr);
  }
  fmt::print("{} devices start in {:.0f} ms and {:.0f} MiB; with the first all-reduce {:.0f} ms and {:.0f} MiB\n",
             devices, (started - begin) * 1e3, after - before, (now_s() - begin) * 1e3, resident_mib() - before);
  cudaSetDevice(0);
  for (const ncclComm_t comm : comms) check(ncclCommDestroy(comm));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What the NCCL interface costs over the C++ one; 8 bytes a call, medians of runs that take turns.");
  app.add_option("--repeats", options.repeats, "runs of each")->capture_default_str();
  app.add_option("--calls", options.calls, "calls of a run")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  constexpr int kManyDevices = 64;
  ::setenv("TUTTI_VIRTUAL_DEVICES", std::to_string(kManyDevices).c_str(), 1);
  print_start(kManyDevices);
  const Pair one = one_rank(options);
  const Pair two = two_ranks(options);
  Options fewer = options;
  fewer.calls = std::max(1, options.calls / 10);
  const Pair eight = grouped(fewer, 8);
  fmt::print("{:<28} {:>10} {:>10} {:>12}\n", "", "C++ ns", "NCCL ns", "overhead ns");
  for (const auto& [name, pair] : {std::pair("1 rank", one), std::pair("2 ranks, 2 threads", two)})
    fmt::print("{:<28} {:>10.0f} {:>10.0f} {:>12.0f}{}\n", name, pair.ours, pair.nccl, pair.nccl - pair.ours,
               pair.nccl - pair.ours < kOverheadNsMax ? "" : "  above 200");
  fmt::print("{:<28} {:>10} {:>10} {:>12}\n", "", "group ns", "single ns", "ratio");
  fmt::print("{:<28} {:>10.0f} {:>10.0f} {:>12.2f}\n", "8 devices, 1 thread", eight.ours, eight.nccl,
             eight.nccl / eight.ours);
}
