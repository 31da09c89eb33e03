// Tutti as a contender of bench/compare: one rank, through the public interface alone.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

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

constexpr int kIdentifierLooks = 3000;
constexpr auto kIdentifierPause = std::chrono::milliseconds(10);

// Where the ranks meet: a file on one host. Across hosts rank 0 opens a meeting point and writes its identifier to a
// file for the others; this is the one place that knows how.
Result<std::string> store_of(const bench::Request& request, std::string_view place) {
  if (request.identifier_out.empty() && request.identifier_in.empty()) {
    return fmt::format("file:{}{}", request.store, place);
  }
  const std::string path =
      fmt::format("{}{}", request.rank == 0 ? request.identifier_out : request.identifier_in, place);
  std::string text;
  if (request.rank == 0) {
    TUTTI_ASSIGN(const Identifier identifier, Identifier::create());
    text = identifier.text();
    std::ofstream(path + ".new") << text << std::endl;
    std::filesystem::rename(path + ".new", path);  // whole or not at all
  }
  for (int i = 0; i < kIdentifierLooks && text.empty(); ++i) {
    std::ifstream(path) >> text;
    if (text.empty()) std::this_thread::sleep_for(kIdentifierPause);
  }
  if (text.empty()) return Status(Code::timed_out, fmt::format("rank 0 left no identifier in {}", path));
  return "tcp:" + text;
}

Status run_request(int argument_count, char** arguments) {
  TUTTI_ASSIGN(const bench::Request request, bench::request_of(argument_count, arguments));
  const auto create = [&](std::string algorithm, std::string_view place) -> Result<Communicator> {
    TUTTI_ASSIGN(std::string store, store_of(request, place));
    auto made = Communicator::create(
        {.rank = request.rank, .size = request.ranks, .store = std::move(store), .algorithm = std::move(algorithm)});
    // All have read it: the next run shall not find it.
    if (!request.identifier_out.empty()) std::filesystem::remove(fmt::format("{}{}", request.identifier_out, place));
    return made;
  };
  TUTTI_ASSIGN(Communicator control, create("", ".control"));
  TUTTI_ASSIGN(Communicator communicator, create(request.algorithm, ""));
  TuttiDriver driver(std::move(communicator), std::move(control), request.buffers == "allocated");
  return bench::measure(request, driver);
}

}  // namespace

int main(int argument_count, char** arguments) { return bench::exit_code_of(run_request(argument_count, arguments)); }
