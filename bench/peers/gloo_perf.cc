// Gloo as a contender of bench/compare, over TCP also inside a host: it has no shared memory.
#include <fmt/format.h>
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "bench/peers/measure.h"

namespace {

using namespace tutti;
using bench::Buffer;
using bench::Job;
using plan::Collective;

constexpr std::chrono::seconds kTimeout{60};

using Combine = void (*)(void*, const void*, const void*, std::size_t);  // names one of Gloo's overloads
constexpr Combine kSum = &gloo::sum<float>;
constexpr Combine kMax = &gloo::max<double>;

// Gloo reports failures by exceptions; they become a status where it is called.
template <class Work>
Status caught(Work work) {
  try {
    work();
    return {};
  } catch (const std::exception& error) {
    return {Code::network, error.what()};
  }
}

class GlooDriver : public bench::Driver {
 public:
  explicit GlooDriver(const bench::Request& request)
      : rank_(request.rank), size_(request.ranks), algorithm_(request.algorithm), store_(request.store) {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = request.address;
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    control_ = connect("control", device);
    data_ = connect("data", device);
    if (!request.waiting.empty()) wait_in_place(request.waiting == "busy");
  }
  Rank rank() const override { return rank_; }
  Rank size() const override { return size_; }
  Status barrier() override {
    return caught([&] {
      gloo::BarrierOptions options(control_);
      gloo::barrier(options);
    });
  }
  Result<double> max(double value) override {
    TUTTI_TRY(caught([&] {
      gloo::AllreduceOptions options(control_);
      options.setOutput(&value, 1);
      options.setReduceFunction(kMax);
      gloo::allreduce(options);
    }));
    return value;
  }
  Result<Buffer> allocate(std::size_t element_count) override { return bench::map_buffer(element_count); }
  Status prepare(const Job& job) override {
    return caught([&] {
      if (plan::reduces(job.collective)) {
        call_ = reducing_call(job);
      } else {
        call_ = moving_call(job);
      }
    });
  }
  Status run() override { return caught(call_); }

 private:
  using Work = std::function<void()>;
  using Floats = std::vector<float*>;

  std::shared_ptr<gloo::Context> connect(const char* name, std::shared_ptr<gloo::transport::Device>& device) {
    auto context = std::make_shared<gloo::rendezvous::Context>(rank_, size_);
    context->setTimeout(kTimeout);
    gloo::rendezvous::PrefixStore store(name, store_);
    context->connectFullMesh(store, device);
    return context;
  }

  // Calls read and write the sockets themselves instead of waiting for Gloo's thread: faster, and a deadlock as soon as
  // two ranks send each other more than the sockets hold.
  void wait_in_place(bool is_busy) {
    for (Rank peer = 0; peer < size_; ++peer) {
      if (peer != rank_) data_->getPair(peer)->setSync(true, is_busy);
    }
  }

  Work reducing_call(const Job& job);
  Work moving_call(const Job& job);
  Work shift_call(const Job& job);

  Rank rank_;
  Rank size_;
  std::string algorithm_;
  gloo::rendezvous::FileStore store_;
  std::shared_ptr<gloo::Context> control_;
  std::shared_ptr<gloo::Context> data_;
  Work call_;
};

// The classes work in place, so that copying the input belongs to the call.
template <class Algorithm>
std::function<void()> in_place_call(const Job& job, std::shared_ptr<Algorithm> algorithm) {
  return [job, algorithm] {
    std::copy(job.in.begin(), job.in.end(), job.out.begin());
    algorithm->run();
  };
}

GlooDriver::Work GlooDriver::reducing_call(const Job& job) {
  const auto* sum = gloo::ReductionFunction<float>::sum;
  const auto elements = static_cast<int>(job.in.size());
  if (job.collective == Collective::reduce_scatter) {
    const std::vector<int> counts(static_cast<std::size_t>(size_), static_cast<int>(job.count));
    return in_place_call(job, std::make_shared<gloo::ReduceScatterHalvingDoubling<float>>(data_, Floats{job.out.data()},
                                                                                          elements, counts, sum));
  }
  if (job.collective == Collective::reduce) {
    auto options = std::make_shared<gloo::ReduceOptions>(data_);
    options->setInput(job.in.data(), job.count);
    options->setOutput(job.out.data(), job.count);
    options->setRoot(job.root);
    options->setReduceFunction(kSum);
    return [options] { gloo::reduce(*options); };
  }
  if (algorithm_ == "halving_doubling") {
    return in_place_call(
        job, std::make_shared<gloo::AllreduceHalvingDoubling<float>>(data_, Floats{job.out.data()}, elements, sum));
  }
  auto options = std::make_shared<gloo::AllreduceOptions>(data_);
  options->setInput(job.in.data(), job.count);
  options->setOutput(job.out.data(), job.count);
  options->setReduceFunction(kSum);
  options->setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
  return [options] { gloo::allreduce(*options); };
}

GlooDriver::Work GlooDriver::moving_call(const Job& job) {
  if (job.collective == Collective::all_gather) {
    auto options = std::make_shared<gloo::AllgatherOptions>(data_);
    options->setInput(job.in.data(), job.in.size());
    options->setOutput(job.out.data(), job.out.size());
    return [options] { gloo::allgather(*options); };
  }
  if (job.collective == Collective::broadcast) {
    auto options = std::make_shared<gloo::BroadcastOptions>(data_);
    options->setOutput(job.out.data(), job.count);
    options->setRoot(job.root);
    return [options] { gloo::broadcast(*options); };
  }
  if (job.collective == Collective::gather) {
    auto options = std::make_shared<gloo::GatherOptions>(data_);
    options->setInput(job.in.data(), job.in.size());
    if (rank_ == job.root) options->setOutput(job.out.data(), job.out.size());
    options->setRoot(job.root);
    return [options] { gloo::gather(*options); };
  }
  if (job.collective == Collective::scatter) {
    auto options = std::make_shared<gloo::ScatterOptions>(data_);
    Floats blocks;
    for (std::size_t at = 0; at < job.in.size(); at += job.count) blocks.push_back(job.in.data() + at);
    if (rank_ == job.root) options->setInputs(blocks, job.count);
    options->setOutput(job.out.data(), job.count);
    options->setRoot(job.root);
    return [options] { gloo::scatter(*options); };
  }
  if (job.collective == Collective::all_to_all) {
    auto options = std::make_shared<gloo::AlltoallOptions>(data_);
    options->setInput(job.in.data(), job.in.size());
    options->setOutput(job.out.data(), job.out.size());
    return [options] { gloo::alltoall(*options); };
  }
  if (job.collective == Collective::send_receive) return shift_call(job);
  auto options = std::make_shared<gloo::BarrierOptions>(data_);
  return [options] { gloo::barrier(*options); };
}

GlooDriver::Work GlooDriver::shift_call(const Job& job) {
  const std::size_t bytes = job.count * sizeof(float);
  std::shared_ptr<gloo::transport::UnboundBuffer> source = data_->createUnboundBuffer(job.in.data(), bytes);
  std::shared_ptr<gloo::transport::UnboundBuffer> target = data_->createUnboundBuffer(job.out.data(), bytes);
  const Rank to = (rank_ + 1) % size_;
  const Rank from = (rank_ + size_ - 1) % size_;
  const std::uint64_t slot = data_->nextSlot();
  return [source, target, to, from, slot] {
    target->recv(from, slot);
    source->send(to, slot);
    source->waitSend(kTimeout);
    target->waitRecv(kTimeout);
  };
}

Status run_request(int argument_count, char** arguments) {
  TUTTI_ASSIGN(const bench::Request request, bench::request_of(argument_count, arguments));
  std::unique_ptr<GlooDriver> driver;
  TUTTI_TRY(caught([&] { driver = std::make_unique<GlooDriver>(request); }));
  if (request.rank == 0) {
    fmt::print("# Gloo {}.{}.{}\n", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
  }
  return bench::measure(request, *driver);
}

}  // namespace

int main(int argument_count, char** arguments) { return bench::exit_code_of(run_request(argument_count, arguments)); }
