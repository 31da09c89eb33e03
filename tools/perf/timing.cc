#include "tools/perf/timing.h"

#include <utility>

#include "os/clock.h"
#include "tools/perf/failure.h"

namespace tutti::perf {

namespace {

double microseconds(Time begin, Time end) { return static_cast<double>(end.ns - begin.ns) * 1e-3; }

// Graphs of the calls of all stations of a thread.
class Graphs {
 public:
  explicit Graphs(std::span<const Station> stations) : stations_(stations) {}
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;
  ~Graphs() {
    for (const cudaGraphExec_t executable : executables_) static_cast<void>(cudaGraphExecDestroy(executable));
    for (const cudaGraph_t graph : graphs_) static_cast<void>(cudaGraphDestroy(graph));
  }

  // Of one thread alone: others may capture or allocate meanwhile.
  Status begin() {
    for (const Station& station : stations_)
      TUTTI_TRY(
          of_cuda(cudaStreamBeginCapture(station.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture"));
    return {};
  }

  Status end() {
    for (const Station& station : stations_) {
      cudaGraph_t graph = nullptr;
      TUTTI_TRY(of_cuda(cudaStreamEndCapture(station.stream, &graph), "cudaStreamEndCapture"));
      graphs_.push_back(graph);
    }
    for (const cudaGraph_t graph : graphs_) {
      cudaGraphExec_t executable = nullptr;
      TUTTI_TRY(of_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate"));
      executables_.push_back(executable);
    }
    return {};
  }

  Status launch() {
    for (std::size_t i = 0; i < executables_.size(); ++i)
      TUTTI_TRY(of_cuda(cudaGraphLaunch(executables_[i], stations_[i].stream), "cudaGraphLaunch"));
    return {};
  }

 private:
  std::span<const Station> stations_;
  std::vector<cudaGraph_t> graphs_;
  std::vector<cudaGraphExec_t> executables_;
};

// The calls of one iteration, as one group where there are several.
Status start_iteration(const Job& job, const Case& test, std::span<const Station> stations, int thread, int iteration) {
  const Options& options = job.options;
  const auto calls = static_cast<std::uint64_t>(options.aggregated_iterations);
  const bool is_group = calls > 1 && job.collective.rounds(job.ranks) == 1;  // rounds end one after the other
  if (is_group) TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  for (std::uint64_t call = 0; call < calls; ++call) {
    TUTTI_TRY(start_calls(job, test, stations, static_cast<std::uint64_t>(iteration) * calls + call));
    const bool waits = (options.blocking == 1 || options.blocking == 2) && calls == 1 && options.graph_launches == 0;
    if (waits) TUTTI_TRY(finish(stations, options));
    if (waits && options.blocking == 1) TUTTI_TRY(job.crew.barrier(thread));
  }
  if (is_group) TUTTI_TRY(of_nccl(ncclGroupEnd(), "ncclGroupEnd"));
  return {};
}

Result<Timing> time_graph(const Job& job, const Case& test, std::span<const Station> stations, int thread) {
  const Options& options = job.options;
  Graphs graphs(stations);
  TUTTI_TRY(graphs.begin());
  for (int i = 0; i < options.iterations; ++i) TUTTI_TRY(start_iteration(job, test, stations, thread, i));
  TUTTI_TRY(graphs.end());
  TUTTI_TRY(job.crew.barrier(thread));
  const Time begin = os::now();
  for (int i = 0; i < options.graph_launches; ++i) TUTTI_TRY(graphs.launch());
  const Time returned = os::now();
  TUTTI_TRY(finish(stations, options));
  const double calls = static_cast<double>(options.iterations) * options.aggregated_iterations * options.graph_launches;
  return Timing{microseconds(begin, os::now()) / calls, microseconds(begin, returned) / calls};
}

// Every iteration is waited for, and the barrier after it is not counted.
Result<Timing> time_waiting(const Job& job, const Case& test, std::span<const Station> stations, int thread) {
  const Options& options = job.options;
  double spent_us = 0;
  for (int i = 0; i < options.iterations; ++i) {
    const Time begin = os::now();
    TUTTI_TRY(start_iteration(job, test, stations, thread, i));
    TUTTI_TRY(finish(stations, options));
    spent_us += microseconds(begin, os::now());
    TUTTI_TRY(job.crew.barrier(thread));
  }
  const double time = spent_us / (static_cast<double>(options.iterations) * options.aggregated_iterations);
  return Timing{time, time};
}

}  // namespace

Result<Timing> time_calls(const Job& job, const Case& test, std::span<const Station> stations, int thread) {
  const Options& options = job.options;
  TUTTI_TRY(start_calls(job, test, stations, 0));
  TUTTI_TRY(finish(stations, options));
  TUTTI_TRY(job.crew.barrier(thread));
  if (options.graph_launches > 0) return time_graph(job, test, stations, thread);
  if (options.blocking == 3) return time_waiting(job, test, stations, thread);
  const Time begin = os::now();
  for (int i = 0; i < options.iterations; ++i) TUTTI_TRY(start_iteration(job, test, stations, thread, i));
  const Time returned = os::now();
  TUTTI_TRY(finish(stations, options));
  const double calls = static_cast<double>(options.iterations) * options.aggregated_iterations;
  return Timing{microseconds(begin, os::now()) / calls, microseconds(begin, returned) / calls};
}

Status run_once(const Job& job, const Case& test, std::span<const Station> stations) {
  if (job.options.graph_launches == 0) {
    TUTTI_TRY(start_calls(job, test, stations, 0));
    return finish(stations, job.options);
  }
  Graphs graphs(stations);
  TUTTI_TRY(graphs.begin());
  TUTTI_TRY(start_calls(job, test, stations, 0));
  TUTTI_TRY(graphs.end());
  TUTTI_TRY(graphs.launch());
  return finish(stations, job.options);
}

namespace {

// Events of all stations: two for each iteration.
class Marks {
 public:
  explicit Marks(std::span<const Station> stations) : stations_(stations) {}
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  ~Marks() {
    for (const cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
  }

  Status create(std::size_t iterations) {
    iterations_ = iterations;
    for (const Station& station : stations_) {
      TUTTI_TRY(of_cuda(cudaSetDevice(station.device), "cudaSetDevice"));
      for (std::size_t i = 0; i < 2 * iterations; ++i) {
        cudaEvent_t event = nullptr;
        TUTTI_TRY(of_cuda(cudaEventCreate(&event), "cudaEventCreate"));
        events_.push_back(event);
      }
    }
    return {};
  }

  Status record(std::size_t iteration, bool is_end) {
    for (std::size_t i = 0; i < stations_.size(); ++i)
      TUTTI_TRY(of_cuda(cudaEventRecord(at(i, iteration, is_end), stations_[i].stream), "cudaEventRecord"));
    return {};
  }

  Result<Samples> microseconds_per_call(int calls) const {
    Samples samples(stations_.size(), std::vector<double>(iterations_));
    for (std::size_t station = 0; station < stations_.size(); ++station) {
      for (std::size_t i = 0; i < iterations_; ++i) {
        float milliseconds = 0;
        TUTTI_TRY(of_cuda(cudaEventElapsedTime(&milliseconds, at(station, i, false), at(station, i, true)),
                          "cudaEventElapsedTime"));
        samples[station][i] = milliseconds * 1e3 / calls;
      }
    }
    return samples;
  }

 private:
  cudaEvent_t at(std::size_t station, std::size_t iteration, bool is_end) const {
    return events_[(station * iterations_ + iteration) * 2 + (is_end ? 1 : 0)];
  }

  std::span<const Station> stations_;
  std::size_t iterations_ = 0;
  std::vector<cudaEvent_t> events_;
};

}  // namespace

Result<Samples> sample_calls(const Job& job, const Case& test, std::span<const Station> stations, int thread,
                             Beginning beginning) {
  const Options& options = job.options;
  const bool waits = beginning == Beginning::together || options.blocking == 3;
  Marks marks(stations);
  TUTTI_TRY(marks.create(static_cast<std::size_t>(options.iterations)));
  TUTTI_TRY(job.crew.barrier(thread));
  for (int i = 0; i < options.iterations; ++i) {
    TUTTI_TRY(marks.record(static_cast<std::size_t>(i), false));
    TUTTI_TRY(start_iteration(job, test, stations, thread, i));
    TUTTI_TRY(marks.record(static_cast<std::size_t>(i), true));
    if (!waits) continue;
    TUTTI_TRY(finish(stations, options));
    TUTTI_TRY(job.crew.barrier(thread));
  }
  TUTTI_TRY(finish(stations, options));
  return marks.microseconds_per_call(options.aggregated_iterations);
}

}  // namespace tutti::perf
