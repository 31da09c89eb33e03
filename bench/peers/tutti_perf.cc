// Tutti as a contender of bench/compare: one rank, through the public interface alone.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bench/peers/measure.h"
#include "tutti/communicator.h"
#include "tutti/memory.h"

namespace {

using namespace tutti;
using bench::Buffer;
using bench::Job;
using plan::Collective;

class TuttiDriver : public bench::Driver {
 public:
  // An algorithm by name need not know barriers and the like: what only accompanies the calls goes through `control`.
  TuttiDriver(Communicator communicator, Communicator control, bool is_allocated)
      : communicator_(std::move(communicator)), control_(std::move(control)), is_allocated_(is_allocated) {}
  Rank rank() const override { return communicator_.rank(); }
  Rank size() const override { return communicator_.size(); }
  Status barrier() override { return control_.barrier(); }
  Result<double> max(double value) override {
    TUTTI_TRY(control_.all_reduce(std::span<double>(&value, 1), Op::max));
    return value;
  }
  Result<Buffer> allocate(std::size_t element_count) override {
    if (!is_allocated_) return bench::map_buffer(element_count);
    TUTTI_ASSIGN(Memory memory, tutti::allocate(element_count * sizeof(float)));
    const std::span<float> elements = memory.as<float>().first(element_count);
    return Buffer{elements, std::make_shared<Memory>(std::move(memory))};
  }
  Status prepare(const Job& job) override {
    job_ = job;
    return {};
  }
  Status run() override;

 private:
  Communicator communicator_;
  Communicator control_;
  bool is_allocated_;
  Job job_;
};

Status TuttiDriver::run() {
  const std::span<const float> in = job_.in;
  const std::span<float> out = job_.out;
  switch (job_.collective) {
    case Collective::all_reduce: return communicator_.all_reduce(in, out);
    case Collective::all_gather: return communicator_.all_gather(in, out);
    case Collective::reduce_scatter: return communicator_.reduce_scatter(in, out.first(job_.count));
    case Collective::broadcast: return communicator_.broadcast(out, job_.root);
    case Collective::reduce: return communicator_.reduce(in, out, job_.root);
    case Collective::gather: return communicator_.gather(in, out, job_.root);
    case Collective::scatter: return communicator_.scatter(in, out.first(job_.count), job_.root);
    case Collective::all_to_all: return communicator_.all_to_all(in, out);
    case Collective::send_receive: {
      Group group;
      group.send(communicator_, in, (rank() + 1) % size());
      group.receive(communicator_, out, (rank() + size() - 1) % size());
      return group.run();
    }
    case Collective::barrier: return communicator_.barrier();
  }
  return {};
}

Status run_request(int argument_count, char** arguments) {
  TUTTI_ASSIGN(const bench::Request request, bench::request_of(argument_count, arguments));
  const auto create = [&](std::string algorithm, std::string_view place) {
    return Communicator::create({.rank = request.rank,
                                 .size = request.ranks,
                                 .store = fmt::format("file:{}{}", request.store, place),
                                 .algorithm = std::move(algorithm)});
  };
  TUTTI_ASSIGN(Communicator control, create("", ".control"));
  TUTTI_ASSIGN(Communicator communicator, create(request.algorithm, ""));
  TuttiDriver driver(std::move(communicator), std::move(control), request.buffers == "allocated");
  return bench::measure(request, driver);
}

}  // namespace

int main(int argument_count, char** arguments) { return bench::exit_code_of(run_request(argument_count, arguments)); }
