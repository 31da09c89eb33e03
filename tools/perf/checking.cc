#include "tools/perf/checking.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tools/perf/failure.h"
#include "tools/perf/image.h"
#include "tools/perf/timing.h"

namespace tutti::perf {

namespace {

// The buffers of a rank before the call and after it.
struct Expected {
  Image send;
  Image receive_before;
  Image receive_after;
};

Expected expected_of(const Job& job, const Case& test, const Pattern& pattern, const Station& station,
                     std::uint64_t seed) {
  const Layout layout = test.layout(job.collective);
  const std::size_t size = test.type.bytes;
  const auto rank = static_cast<std::uint64_t>(station.rank);
  const std::uint64_t begin = static_cast<std::uint64_t>(job.options.unalign) * size;
  const bool in_place = test.place == Place::in_place;
  const std::uint64_t send_at = in_place ? rank * layout.send_offset : 0;
  const std::uint64_t receive_at = in_place ? rank * layout.receive_offset : 0;
  const std::uint64_t receive_bytes =
      (in_place ? std::max(layout.send_count, layout.receive_count) : layout.receive_count) * size;

  Image send(pattern, seed, begin, layout.send_count * size);
  send.add(0, layout.send_count, station.rank, 0);
  Image receive(pattern, seed, begin, receive_bytes);
  if (in_place) receive.add(send_at, layout.send_count, station.rank, 0);
  Image after = receive;
  for (const Piece& piece : job.collective.pieces(test.shape, station.rank, test.root))
    after.add(receive_at + piece.at, piece.count, piece.source, piece.first);
  return {std::move(send), std::move(receive), std::move(after)};
}

void note(const Case& test, const Station& station, std::string_view buffer, const Image::Difference& difference,
          CheckResult& result) {
  if (difference.first.empty()) return;
  const std::int64_t count = difference.wrong + difference.outside;
  result.sentences.push_back(fmt::format("rank {}, {} buffer, {} bytes {}: {}{}", station.rank, buffer,
                                         test.shape.bytes, test.place == Place::in_place ? "in place" : "out of place",
                                         difference.first,
                                         count > 1 ? fmt::format(", and {} more are wrong", count - 1) : ""));
}

Status compare_station(const Job& job, const Case& test, const Station& station, const Expected& expected,
                       CheckResult& result) {
  if (test.place == Place::out_of_place) {
    TUTTI_ASSIGN(const Image::Difference sent, compare(expected.send, station.send.begin));
    note(test, station, "send", sent, result);
    result.out_of_bounds += sent.wrong + sent.outside;
  }
  if (test.place == Place::in_place && !job.collective.checks_in_place) return {};
  TUTTI_ASSIGN(const Image::Difference received, compare(expected.receive_after, station.receive.begin));
  note(test, station, "receive", received, result);
  result.wrong += received.wrong;
  result.out_of_bounds += received.outside;
  return {};
}

}  // namespace

Result<CheckResult> check_once(const Job& job, const Case& test, const Pattern& pattern,
                               std::span<const Station> stations, int thread, std::uint64_t seed) {
  std::vector<Expected> expected;
  for (const Station& station : stations) {
    TUTTI_TRY(of_cuda(cudaSetDevice(station.device), "cudaSetDevice"));
    expected.push_back(expected_of(job, test, pattern, station, seed));
    TUTTI_TRY(upload(expected.back().send, station.send.begin));
    TUTTI_TRY(upload(expected.back().receive_before, station.receive.begin));
  }
  TUTTI_TRY(job.crew.barrier(thread));  // nobody may write into buffers that are still being filled
  TUTTI_TRY(run_once(job, test, stations));
  TUTTI_TRY(job.crew.barrier(thread));
  CheckResult result;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    TUTTI_TRY(of_cuda(cudaSetDevice(stations[i].device), "cudaSetDevice"));
    TUTTI_TRY(compare_station(job, test, stations[i], expected[i], result));
  }
  return result;
}

}  // namespace tutti::perf
