// An MPI library as a contender of bench/compare. Built once for each MPI that is found; mpirun starts the ranks.
#include <fmt/format.h>
#include <mpi.h>

#include <string_view>

#include "bench/peers/measure.h"

namespace {

using namespace tutti;
using bench::Buffer;
using bench::Job;
using plan::Collective;

// Errors of MPI end the program with a message of the library, as its default handler does.
class MpiDriver : public bench::Driver {
 public:
  MpiDriver() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  Rank rank() const override { return rank_; }
  Rank size() const override { return size_; }
  Status barrier() override {
    MPI_Barrier(MPI_COMM_WORLD);
    return {};
  }
  Result<double> max(double value) override {
    double largest = 0;
    MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
  }
  Result<Buffer> allocate(std::size_t element_count) override { return bench::map_buffer(element_count); }
  Status prepare(const Job& job) override {
    job_ = job;
    return {};
  }
  Status run() override;

 private:
  int rank_ = 0;
  int size_ = 1;
  Job job_;
};

Status MpiDriver::run() {
  const MPI_Comm all = MPI_COMM_WORLD;
  const auto count = static_cast<int>(job_.count);
  const float* in = job_.in.data();
  float* out = job_.out.data();
  switch (job_.collective) {
    case Collective::all_reduce: MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, all); break;
    case Collective::all_gather: MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, all); break;
    case Collective::reduce_scatter: MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, all); break;
    case Collective::broadcast: MPI_Bcast(out, count, MPI_FLOAT, job_.root, all); break;
    case Collective::reduce: MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, job_.root, all); break;
    case Collective::gather: MPI_Gather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, job_.root, all); break;
    case Collective::scatter: MPI_Scatter(in, count, MPI_FLOAT, out, count, MPI_FLOAT, job_.root, all); break;
    case Collective::all_to_all: MPI_Alltoall(in, count, MPI_FLOAT, out, count, MPI_FLOAT, all); break;
    case Collective::send_receive:
      MPI_Sendrecv(in, count, MPI_FLOAT, (rank_ + 1) % size_, 0, out, count, MPI_FLOAT, (rank_ + size_ - 1) % size_, 0,
                   all, MPI_STATUS_IGNORE);
      break;
    case Collective::barrier: MPI_Barrier(all); break;
  }
  return {};
}

// "Open MPI v4.1.4": the first line of what the library says of itself, up to a comma.
void print_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text, static_cast<std::size_t>(length));
  version.resize(version.find_first_of(",\n") == std::string::npos ? version.size() : version.find_first_of(",\n"));
  for (char& letter : version) letter = letter == '\t' ? ' ' : letter;
  fmt::print("# {}\n", version);
}

Status run_request(int argument_count, char** arguments) {
  TUTTI_ASSIGN(const bench::Request request, bench::request_of(argument_count, arguments));
  MpiDriver driver;
  if (driver.rank() == 0) print_version();
  return bench::measure(request, driver);
}

}  // namespace

int main(int argument_count, char** arguments) {
  MPI_Init(&argument_count, &arguments);
  const int code = bench::exit_code_of(run_request(argument_count, arguments));
  MPI_Finalize();
  return code;
}
