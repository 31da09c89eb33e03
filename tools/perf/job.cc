#include "tools/perf/job.h"

#include <algorithm>

#include "tools/perf/failure.h"
#include "tools/perf/image.h"
#include "tools/perf/pattern.h"

namespace tutti::perf {

namespace {

ncclRedOp_t simple_operation(Operation operation) {
  switch (operation) {
    case Operation::prod: return ncclProd;
    case Operation::max: return ncclMax;
    case Operation::min: return ncclMin;
    case Operation::avg: return ncclAvg;
    case Operation::sum:
    case Operation::mulsum:
    case Operation::none: return ncclSum;
  }
  return ncclSum;
}

Status start_scaled(const Job& job, CallSite& call) {
  std::uint64_t scalar = encode(*call.type, Pattern::factor_of(call.rank));
  TUTTI_TRY(
      of_nccl(ncclRedOpCreatePreMulSum(&call.operation, &scalar, call.type->nccl, ncclScalarHostImmediate, call.comm),
              "ncclRedOpCreatePreMulSum", call.comm));
  TUTTI_TRY(job.collective.start(call));
  return of_nccl(ncclRedOpDestroy(call.operation, call.comm), "ncclRedOpDestroy", call.comm);
}

}  // namespace

Buffers buffers_of(const Job& job, const Case& test, const Station& station, std::uint64_t shift) {
  const std::size_t size = test.type.bytes;
  const std::uint64_t begin = kGuardBytes + static_cast<std::uint64_t>(job.options.unalign) * size + shift;
  if (test.place == Place::out_of_place) return {station.send.begin + begin, station.receive.begin + begin};
  const Layout layout = test.layout(job.collective);
  const auto rank = static_cast<std::uint64_t>(station.rank);
  return {station.receive.begin + begin + rank * layout.send_offset * size,
          station.receive.begin + begin + rank * layout.receive_offset * size};
}

namespace {

// Of all stations, as one group where there are several.
Status start_round(const Job& job, const Case& test, std::span<const Station> stations, std::uint64_t shift,
                   int round) {
  const std::uint64_t count = test.layout(job.collective).call_count;
  if (stations.size() > 1) TUTTI_TRY(of_nccl(ncclGroupStart(), "ncclGroupStart"));
  for (const Station& station : stations) {
    const Buffers buffers = buffers_of(job, test, station, shift);
    CallSite call{.send = buffers.send,
                  .receive = buffers.receive,
                  .count = count,
                  .type = &test.type,
                  .operation = simple_operation(test.operation),
                  .root = test.root,
                  .rank = station.rank,
                  .round = round,
                  .shape = &test.shape,
                  .comm = station.comm,
                  .stream = station.stream};
    TUTTI_TRY(test.operation == Operation::mulsum ? start_scaled(job, call) : job.collective.start(call));
  }
  if (stations.size() > 1) TUTTI_TRY(of_nccl(ncclGroupEnd(), "ncclGroupEnd", stations.front().comm));
  return {};
}

}  // namespace

Status start_calls(const Job& job, const Case& test, std::span<const Station> stations, std::uint64_t iteration) {
  const Layout layout = test.layout(job.collective);
  const std::uint64_t used = std::max(layout.send_count, layout.receive_count) * test.type.bytes;
  const std::uint64_t places = used > 0 ? std::max<std::uint64_t>(job.buffer_bytes / used, 1) : 1;
  for (int round = 0; round < job.collective.rounds(job.ranks); ++round)
    TUTTI_TRY(start_round(job, test, stations, used * (iteration % places), round));
  return {};
}

}  // namespace tutti::perf
