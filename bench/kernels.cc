// How fast the kernels of the host engine are: result bytes per second of one step, with and without streaming stores,
// beside a plain loop. Prints tables; a number goes into a document only with machine and commit. Run: bench_kernels
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/host/kernels/kernels.h"

namespace {

using namespace tutti;

constexpr int kRounds = 15;
constexpr double kRoundSeconds = 2e-3;

double now_s() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory allocate(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage)));
  std::memset(memory.get(), 0, bytes);
  return memory;
}

struct Buffers {
  Buffers(std::size_t source_count, std::size_t target_count, std::size_t bytes) {
    for (std::size_t i = 0; i < source_count + target_count; ++i) owned.push_back(allocate(bytes));
    for (std::size_t i = 0; i < source_count; ++i) sources.push_back(owned[i].get());
    for (std::size_t i = 0; i < target_count; ++i) targets.push_back(owned[source_count + i].get());
  }
  std::vector<Memory> owned;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
};

// A pass for each source and target, as one would write it first; the compiler makes vectors of it.
void plain_sum(const Buffers& buffers, std::size_t elements) {
  auto* __restrict result = reinterpret_cast<float*>(buffers.targets[0]);
  std::memcpy(result, buffers.sources[0], elements * sizeof(float));
  for (std::size_t s = 1; s < buffers.sources.size(); ++s) {
    const auto* __restrict source = reinterpret_cast<const float*>(buffers.sources[s]);
    for (std::size_t i = 0; i < elements; ++i) result[i] += source[i];
  }
  for (std::size_t t = 1; t < buffers.targets.size(); ++t) {
    std::memcpy(buffers.targets[t], result, elements * sizeof(float));
  }
}

// Medians of the seconds that each of the variants takes, measured in turns since other machines share this one.
std::vector<double> seconds_of(const std::vector<std::function<void()>>& variants) {
  std::vector<std::vector<double>> samples(variants.size());
  std::vector<int> repeats;
  for (const auto& variant : variants) {
    variant();
    const double begin = now_s();
    variant();
    const double once = std::max(now_s() - begin, 1e-9);
    repeats.push_back(std::clamp(static_cast<int>(kRoundSeconds / once), 1, 1 << 20));
  }
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const double begin = now_s();
      for (int i = 0; i < repeats[v]; ++i) variants[v]();
      samples[v].push_back((now_s() - begin) / repeats[v]);
    }
  }
  std::vector<double> medians;
  for (auto& all : samples) {
    std::nth_element(all.begin(), all.begin() + kRounds / 2, all.end());
    medians.push_back(all[kRounds / 2]);
  }
  return medians;
}

std::function<void()> step(DataType type, const Buffers& buffers, std::size_t bytes, bool streaming) {
  const engine::Kernel kernel = engine::kernel_of(type, Op::sum);
  const std::uint64_t elements = bytes / size_of(type);
  return [kernel, elements, streaming, &buffers] {
    kernel({buffers.sources, buffers.targets, elements, nullptr, 1, streaming});
  };
}

std::string text_of(std::size_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

void print_large(std::size_t source_count, std::size_t target_count) {
  for (const std::size_t bytes : {4ul << 10, 64ul << 10, 1ul << 20, 4ul << 20, 16ul << 20, 64ul << 20}) {
    const Buffers buffers(source_count, target_count, bytes);
    const auto seconds = seconds_of({
        [&] { plain_sum(buffers, bytes / sizeof(float)); },
        step(DataType::float32, buffers, bytes, false),
        step(DataType::float32, buffers, bytes, true),
        step(DataType::float16, buffers, bytes, false),
        step(DataType::bfloat16, buffers, bytes, false),
    });
    fmt::print("{:>7} {:>7} {:>8}", source_count, target_count, text_of(bytes));
    for (const double time : seconds) fmt::print(" {:>9.2f}", 1e-9 * static_cast<double>(bytes) / time);
    fmt::print("\n");
    std::fflush(stdout);
  }
}

// What an engine does with a large buffer: tile after tile, each of them one call.
std::function<void()> pass(const Buffers& buffers, std::size_t bytes, std::size_t tile_bytes, bool streaming) {
  const engine::Kernel kernel = engine::kernel_of(DataType::float32, Op::sum);
  return [=, &buffers] {
    std::vector<const std::byte*> sources = buffers.sources;
    std::vector<std::byte*> targets = buffers.targets;
    for (std::size_t at = 0; at < bytes; at += tile_bytes) {
      kernel({sources, targets, tile_bytes / sizeof(float), nullptr, 1, streaming});
      for (const std::byte*& source : sources) source += tile_bytes;
      for (std::byte*& target : targets) target += tile_bytes;
    }
  };
}

void print_tiles() {
  constexpr std::size_t kBytes = 64u << 20;
  fmt::print("\nGB/s of result of a float32 sum of {} in tiles, streaming\n", text_of(kBytes));
  fmt::print("{:>7} {:>7} {:>8} {:>9} {:>9}\n", "sources", "targets", "tile", "off", "on");
  for (const std::size_t count : {2, 4, 8}) {
    const Buffers buffers(count, count, kBytes);
    for (const std::size_t tile_bytes : {4ul << 10, 16ul << 10, 64ul << 10, 256ul << 10}) {
      const auto seconds =
          seconds_of({pass(buffers, kBytes, tile_bytes, false), pass(buffers, kBytes, tile_bytes, true)});
      fmt::print("{:>7} {:>7} {:>8}", count, count, text_of(tile_bytes));
      for (const double time : seconds) fmt::print(" {:>9.2f}", 1e-9 * static_cast<double>(kBytes) / time);
      fmt::print("\n");
    }
  }
}

void print_small() {
  fmt::print("\nns of a float32 sum into one target\n{:>8}", "");
  for (const std::size_t source_count : {2, 3, 4, 8}) fmt::print(" {:>5} sources", source_count);
  fmt::print("\n");
  for (const std::size_t bytes : {4, 8, 20, 32, 60, 64, 100, 128, 256, 500, 512, 1024}) {
    fmt::print("{:>8}", text_of(bytes));
    for (const std::size_t source_count : {2, 3, 4, 8}) {
      const Buffers buffers(source_count, 1, bytes);
      const auto seconds = seconds_of({step(DataType::float32, buffers, bytes, false)});
      fmt::print(" {:>13.1f}", 1e9 * seconds[0]);
    }
    fmt::print("\n");
  }
}

}  // namespace

int main() {
  fmt::print("instruction set {}; GB/s of result of a sum, medians of {}\n\n", engine::instruction_set(), kRounds);
  fmt::print("{:>7} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "sources", "targets", "bytes", "plain", "kernel",
             "streaming", "f16", "bf16");
  for (const std::size_t count : {1, 2, 4, 8}) print_large(count, count);
  for (const std::size_t count : {2, 4, 8}) print_large(count, 1);
  print_tiles();
  print_small();
}
