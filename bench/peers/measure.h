// The measuring loop that every contender of bench/compare runs, so that all of them are timed and checked alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/plan.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::bench {

// Elements with whatever keeps them alive.
struct Buffer {
  std::span<float> elements;
  std::shared_ptr<void> owner;  // shared_ptr for its deleter: pages and Tutti's memory are freed in different ways
};

// Private pages in the state in which malloc hands out large blocks. They do not come from malloc itself, so that a
// peer's allocator settings reach only its own temporaries.
Result<Buffer> map_buffer(std::size_t element_count);

// One call: a float sum where the collective reduces. `count` counts elements as tutti::Call does; send_receive goes
// from each rank to the next. `out` always has room for the whole vector, for peers that work in place.
struct Job {
  plan::Collective collective = plan::Collective::all_reduce;
  std::span<float> in;
  std::span<float> out;
  std::size_t count = 0;
  Rank root = 0;
};

// What a contender supplies.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual Rank rank() const = 0;
  virtual Rank size() const = 0;
  virtual Status barrier() = 0;
  virtual Result<double> max(double value) = 0;  // over all ranks, the same on each
  virtual Result<Buffer> allocate(std::size_t element_count) = 0;
  virtual Status prepare(const Job& job) = 0;  // not timed; the job stays valid until the next one
  virtual Status run() = 0;                    // timed: the job, once
};

// What is measured: the words "name=value" that bench/compare gives to the programs it starts.
struct Request {
  plan::Collective collective = plan::Collective::all_reduce;
  std::vector<std::uint64_t> sizes = {};  // of the larger side of the call, in bytes
  double seconds = 0.1;                   // to spend on the timed calls of one size
  Rank rank = 0;
  Rank ranks = 1;
  std::string store = {};          // where ranks meet that no launcher connects
  std::string buffers = "malloc";  // or "allocated"
  std::string algorithm = {};      // of those that offer a choice
  std::string waiting = {};        // of Gloo: nothing, "sync" or "busy"
  std::string address = "127.0.0.1";
  // Files for those that meet across hosts: rank 0 of Tutti writes how to find it to the first, the others read it.
  std::string identifier_out = {};
  std::string identifier_in = {};
};
Result<Request> request_of(int argument_count, const char* const* arguments);

double now_s();

// What rank `rank` contributes: small whole numbers, so that every sum is exact.
void fill_pattern(std::span<float> elements, Rank rank);

// Measures every size and prints a line for each from rank 0: collective, bytes, ranks, seconds a call, wrong elements
// (of the rank that has most), separated by tabs; then kEndLine.
inline constexpr std::string_view kEndLine = "# end\n";
Status measure(const Request& request, Driver& driver);

// The end of every main(): the status as an exit code, its text on stderr.
int exit_code_of(const Status& status);

}  // namespace tutti::bench
