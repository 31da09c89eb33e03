// What an all_reduce cannot beat on this machine: threads of one process, as many as cores, that only add and store.
// They read the inputs of all ranks once and write the outputs of all ranks once, with ordinary stores.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "bench/peers/measure.h"

namespace {

using namespace tutti;
using bench::Buffer;
using bench::Job;

struct Vectors {
  std::vector<const float*> in;
  std::vector<float*> out;
};
using Kernel = void (*)(const Vectors& vectors, std::size_t begin, std::size_t end);

// All inputs and outputs at once, the sum in registers.
template <std::size_t n>
void add_wide(const Vectors& vectors, std::size_t begin, std::size_t end) {
  constexpr std::size_t kWidth = 16;
  const float* in[n];
  float* out[n];
  std::copy_n(vectors.in.begin(), n, in);
  std::copy_n(vectors.out.begin(), n, out);
  std::size_t i = begin;
  for (; i + kWidth <= end; i += kWidth) {
    float sum[kWidth];
    for (std::size_t k = 0; k < kWidth; ++k) sum[k] = in[0][i + k];
    for (std::size_t r = 1; r < n; ++r) {
      for (std::size_t k = 0; k < kWidth; ++k) sum[k] += in[r][i + k];
    }
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t k = 0; k < kWidth; ++k) out[r][i + k] = sum[k];
    }
  }
  for (; i < end; ++i) {
    float sum = in[0][i];
    for (std::size_t r = 1; r < n; ++r) sum += in[r][i];
    for (std::size_t r = 0; r < n; ++r) out[r][i] = sum;
  }
}

// Block by block through the first-level cache: many vectors that start on page boundaries would evict one another.
void add_blocked(const Vectors& vectors, std::size_t begin, std::size_t end) {
  constexpr std::size_t kBlock = 4096;
  alignas(64) float sum[kBlock];
  for (std::size_t i = begin; i < end; i += kBlock) {
    const std::size_t count = std::min(kBlock, end - i);
    std::memcpy(sum, vectors.in[0] + i, count * sizeof(float));
    for (std::size_t r = 1; r + 1 < vectors.in.size(); r += 2) {
      const float* first = vectors.in[r] + i;
      const float* second = vectors.in[r + 1] + i;
      for (std::size_t k = 0; k < count; ++k) sum[k] += first[k] + second[k];
    }
    if (vectors.in.size() % 2 == 0) {
      const float* last = vectors.in.back() + i;
      for (std::size_t k = 0; k < count; ++k) sum[k] += last[k];
    }
    for (float* out : vectors.out) std::memcpy(out + i, sum, count * sizeof(float));
  }
}

std::vector<Kernel> kernels_of(std::size_t ranks) {
  switch (ranks) {
    case 2: return {&add_blocked, &add_wide<2>};
    case 4: return {&add_blocked, &add_wide<4>};
    case 8: return {&add_blocked, &add_wide<8>};
    default: return {&add_blocked};
  }
}

std::size_t core_count() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<std::size_t>(CPU_COUNT(&cores));
}

// Measured like a contender: its own vectors stand for those of the other ranks. The calling thread is worker 0; the
// others spin for their turn, as ranks of a collective do.
class BoundDriver : public bench::Driver {
 public:
  explicit BoundDriver(Rank ranks) : ranks_(ranks), thread_count_(core_count()) {
    for (std::size_t i = 1; i < thread_count_; ++i) threads_.emplace_back([this, i] { serve(i); });
  }
  ~BoundDriver() override {
    is_over_ = true;
    turn_.fetch_add(1, std::memory_order_release);
    for (std::thread& thread : threads_) thread.join();
  }
  Rank rank() const override { return 0; }
  Rank size() const override { return ranks_; }
  Status barrier() override { return {}; }
  Result<double> max(double value) override { return value; }
  Result<Buffer> allocate(std::size_t element_count) override { return bench::map_buffer(element_count); }
  Status prepare(const Job& job) override;
  Status run() override;

 private:
  void serve(std::size_t thread);
  void add_share(std::size_t thread) const;

  Rank ranks_;
  std::size_t thread_count_;
  std::vector<Buffer> others_;
  Vectors vectors_;
  std::size_t element_count_ = 0;
  Kernel kernel_ = nullptr;
  std::vector<std::thread> threads_;
  bool is_over_ = false;
  alignas(64) std::atomic<std::uint64_t> turn_ = 0;
  alignas(64) std::atomic<std::uint64_t> done_ = 0;
};

// The fastest of the kernels counts.
Status BoundDriver::prepare(const Job& job) {
  others_.clear();
  vectors_ = {{job.in.data()}, {job.out.data()}};
  element_count_ = job.count;
  for (Rank rank = 1; rank < ranks_; ++rank) {
    TUTTI_ASSIGN(const Buffer in, bench::map_buffer(job.count));
    TUTTI_ASSIGN(const Buffer out, bench::map_buffer(job.count));
    bench::fill_pattern(in.elements, rank);
    vectors_.in.push_back(in.elements.data());
    vectors_.out.push_back(out.elements.data());
    others_.insert(others_.end(), {in, out});
  }
  double best_s = std::numeric_limits<double>::max();
  Kernel best = nullptr;
  for (const Kernel kernel : kernels_of(vectors_.in.size())) {
    kernel_ = kernel;
    TUTTI_TRY(run());  // faults the pages in
    const double begin = bench::now_s();
    for (int i = 0; i < 3; ++i) TUTTI_TRY(run());
    const double time_s = bench::now_s() - begin;
    if (time_s < best_s) best = kernel;
    best_s = std::min(best_s, time_s);
  }
  kernel_ = best;
  return {};
}

Status BoundDriver::run() {
  const std::uint64_t finished = done_.load(std::memory_order_relaxed) + threads_.size();
  turn_.fetch_add(1, std::memory_order_release);
  add_share(0);
  while (done_.load(std::memory_order_acquire) != finished) {
  }
  return {};
}

void BoundDriver::serve(std::size_t thread) {
  for (std::uint64_t seen = 0;; ++seen) {
    while (turn_.load(std::memory_order_acquire) == seen) {
    }
    if (is_over_) return;
    add_share(thread);
    done_.fetch_add(1, std::memory_order_release);
  }
}

void BoundDriver::add_share(std::size_t thread) const {
  kernel_(vectors_, element_count_ * thread / thread_count_, element_count_ * (thread + 1) / thread_count_);
}

Status run_request(int argument_count, char** arguments) {
  TUTTI_ASSIGN(const bench::Request request, bench::request_of(argument_count, arguments));
  if (request.collective != plan::Collective::all_reduce) {
    return {Code::unsupported, "the bound is that of all_reduce"};
  }
  BoundDriver driver(request.ranks);
  return bench::measure(request, driver);
}

}  // namespace

int main(int argument_count, char** arguments) { return bench::exit_code_of(run_request(argument_count, arguments)); }
