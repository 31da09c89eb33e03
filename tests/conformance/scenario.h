// A call that every rank can make up by itself from one seed, with the result that its definition promises. Values are
// integers that every type holds exactly, so that results are compared for equality.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/conformance/area.h"
#include "tests/conformance/narrow.h"
#include "tests/plans/seed.h"
#include "tutti/communicator.h"

namespace tutti::conformance {

using plan::Collective;

// Which memory the ranks give.
enum class Memories { plain, shared, mixed };

struct Scenario {
  Collective collective = Collective::all_reduce;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> counts = {};  // of the variable form
  DataType type = DataType::float32;
  Op op = Op::sum;
  Rank root = 0;
  Rank peer = 0;
  std::uint64_t seed = 0;  // decides values, alignments and who works in place
  Memories memories = Memories::plain;

  std::string text() const {
    return fmt::format("{}{} of {} {} {}, root {}, peer {}, memories {}, seed {}", plan::name_of(collective),
                       counts.empty() ? "" : "_v", count, name_of(type), name_of(op), root, peer,
                       static_cast<int>(memories), seed);
  }
};

inline Scenario draw_scenario(Random& random, Rank size, std::uint64_t bytes_max) {
  constexpr DataType kTypes[] = {DataType::int32, DataType::int64, DataType::float32, DataType::float64};
  constexpr std::uint64_t kCounts[] = {0, 1, 2, 3, 13, 14, 15, 57, 224, 225, 1000, 4097, 20011, 70001, 786432};
  Scenario scenario;
  scenario.collective = plan::kCollectives[random.below(plan::kCollectives.size())];
  scenario.type = kTypes[random.below(std::size(kTypes))];
  scenario.op = kOps[random.below(kOps.size())];
  scenario.root = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
  scenario.peer = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
  scenario.seed = random.next();
  scenario.memories = static_cast<Memories>(random.below(3));
  const std::uint64_t most = bytes_max / size_of(scenario.type);
  scenario.count = std::min(most, kCounts[random.below(std::size(kCounts))]);
  const auto n = static_cast<std::size_t>(size);
  const bool has_blocks = plan::has_blocks(scenario.collective);
  if (has_blocks) scenario.count = std::min(scenario.count, most / n);
  if (plan::has_variable_form(scenario.collective) && random.below(3) == 0) {
    scenario.counts.resize(scenario.collective == Collective::all_to_all ? n * n : n);
    for (std::uint64_t& each : scenario.counts) each = random.below(4) == 0 ? 0 : random.below(scenario.count + 2);
  }
  return scenario;
}

// One rank's part of a scenario.
template <class T>
class Part {
 public:
  Part(const Scenario& scenario, Rank rank, Rank size) : s_(scenario), me_(rank), n_(size) {
    Random random(s_.seed + 77 * static_cast<std::uint64_t>(rank));
    const bool is_shared = s_.memories == Memories::shared || (s_.memories == Memories::mixed && random.below(2) == 0);
    where_ = {.is_shared = is_shared, .shift = random.below(3) == 0 ? random.below(64) : 0};
    is_in_place_ = fits_in_place() && random.below(2) == 0;
  }

  // Makes the call and compares; empty: as promised.
  std::string play(Communicator& communicator) {
    if (s_.collective == Collective::send_receive) return exchange(communicator);
    const std::uint64_t in_elements = elements_in();
    const std::uint64_t out_elements = elements_out();
    // In place one buffer serves both, and is as large as the larger.
    Area out(std::max(is_in_place_ ? in_elements : 0, out_elements) * sizeof(T), where_);
    Area in((is_in_place_ ? 0 : in_elements) * sizeof(T), where_);
    const std::uint64_t in_at = is_in_place_ && in_is_block() ? before(me_) : 0;
    const std::uint64_t out_at = is_in_place_ && out_is_block() ? before(me_) : 0;
    std::byte* in_data = (is_in_place_ ? out.data() : in.data()) + in_at * sizeof(T);
    std::byte* out_data = out.data() + out_at * sizeof(T);
    for (std::uint64_t i = 0; i < in_elements; ++i) put(in_data, i, given(me_, i));
    const Status status = communicator.run(call(in_data, out_data));
    if (!status) return std::string(status.text());
    if (!out.is_intact() || !in.is_intact()) return "bytes around the buffers have changed";
    for (std::uint64_t i = 0; i < out_elements; ++i) {
      if (get(out_data, i) != promised(i)) {
        return fmt::format("out[{}] is {}, not {}", i, get(out_data, i), promised(i));
      }
    }
    for (std::uint64_t i = 0; i < in_elements && !is_in_place_; ++i) {
      if (get(in_data, i) != given(me_, i)) return fmt::format("in[{}] has changed", i);
    }
    return {};
  }

 private:
  static T get(const std::byte* data, std::uint64_t i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  }
  static void put(std::byte* data, std::uint64_t i, T value) { std::memcpy(data + i * sizeof(T), &value, sizeof(T)); }

  Call call(const void* in, void* out) const {
    Call call{.collective = s_.collective, .in = in, .out = out, .count = s_.count, .type = s_.type, .root = s_.root};
    call.peer = s_.peer;
    call.counts = s_.counts;
    call.reduction = s_.op == Op::scaled_sum ? Reduction::scaled(factor(me_)) : Reduction(s_.op);
    return call;
  }

  // A message, to oneself too.
  std::string exchange(Communicator& communicator) {
    if (me_ != s_.root && me_ != s_.peer) return {};
    Area in(s_.count * sizeof(T), where_);
    Area out(s_.count * sizeof(T), where_);
    Group group;
    if (me_ == s_.root) {
      for (std::uint64_t i = 0; i < s_.count; ++i) put(in.data(), i, given(me_, i));
      group.add(communicator, call(in.data(), nullptr));
    }
    if (me_ == s_.peer) group.add(communicator, call(nullptr, out.data()));
    const Status status = group.run();
    if (!status) return std::string(status.text());
    if (!out.is_intact() || !in.is_intact()) return "bytes around the buffers have changed";
    for (std::uint64_t i = 0; me_ == s_.peer && i < s_.count; ++i) {
      if (get(out.data(), i) != given(s_.root, i)) return fmt::format("received[{}] is {}", i, get(out.data(), i));
    }
    return {};
  }

  // Where a rank has both buffers, and a block is as large on its way out as on its way in.
  bool fits_in_place() const {
    if (s_.collective == Collective::all_to_all) return s_.counts.empty();
    return me_ == s_.root || (s_.collective != Collective::gather && s_.collective != Collective::scatter);
  }
  bool in_is_block() const { return s_.collective == Collective::all_gather || s_.collective == Collective::gather; }
  bool out_is_block() const {
    return s_.collective == Collective::reduce_scatter || s_.collective == Collective::scatter;
  }
  // Of 8-bit floats small ones, since few integers are numbers there.
  static double factor(Rank rank) { return kIsEightBitFloat<T> ? 1 + rank % 2 : 1 + rank; }

  // Small integers; of averages multiples of the number of ranks, of products ones and twos.
  T given(Rank rank, std::uint64_t i) const {
    const std::uint64_t value = (static_cast<std::uint64_t>(rank) * 7 + i * 3 + s_.seed % 1000) % kValues<T>;
    if (!plan::reduces(s_.collective)) return static_cast<T>(value);
    if (s_.op == Op::product) return static_cast<T>(1 + value % 2);
    return static_cast<T>(s_.op == Op::average ? value * static_cast<std::uint64_t>(n_) : value);
  }

  std::uint64_t block(Rank rank) const {
    return s_.counts.empty() ? s_.count : s_.counts[static_cast<std::size_t>(rank)];
  }
  std::uint64_t before(Rank rank) const {
    std::uint64_t sum = 0;
    for (Rank r = 0; r < rank; ++r) sum += block(r);
    return sum;
  }
  std::uint64_t pair(Rank from, Rank to) const {
    return s_.counts.empty() ? s_.count : s_.counts[static_cast<std::size_t>(from * n_ + to)];
  }

  std::uint64_t elements_in() const {
    const bool is_root = me_ == s_.root;
    std::uint64_t all = 0;
    switch (s_.collective) {
      case Collective::all_reduce:
      case Collective::reduce: return s_.count;
      case Collective::all_gather:
      case Collective::gather: return block(me_);
      case Collective::reduce_scatter: return before(n_);
      case Collective::scatter: return is_root ? before(n_) : 0;
      case Collective::broadcast: return is_root ? s_.count : 0;
      case Collective::all_to_all:
        for (Rank r = 0; r < n_; ++r) all += pair(me_, r);
        return all;
      case Collective::barrier:
      case Collective::send_receive: return 0;
    }
    return 0;
  }

  std::uint64_t elements_out() const {
    const bool is_root = me_ == s_.root;
    std::uint64_t all = 0;
    switch (s_.collective) {
      case Collective::all_reduce:
      case Collective::broadcast: return s_.count;
      case Collective::reduce: return is_root ? s_.count : 0;
      case Collective::all_gather: return before(n_);
      case Collective::gather: return is_root ? before(n_) : 0;
      case Collective::reduce_scatter:
      case Collective::scatter: return block(me_);
      case Collective::all_to_all:
        for (Rank r = 0; r < n_; ++r) all += pair(r, me_);
        return all;
      case Collective::barrier:
      case Collective::send_receive: return 0;
    }
    return 0;
  }

  T sum(std::uint64_t i) const {
    T value = s_.op == Op::scaled_sum ? static_cast<T>(factor(0)) * given(0, i) : given(0, i);
    for (Rank r = 1; r < n_; ++r) {
      const T next = given(r, i);
      switch (s_.op) {
        case Op::sum:
        case Op::average: value += next; break;
        case Op::product: value *= next; break;
        case Op::min: value = std::min(value, next); break;
        case Op::max: value = std::max(value, next); break;
        case Op::scaled_sum: value += static_cast<T>(factor(r)) * next; break;
      }
    }
    return s_.op == Op::average ? value / static_cast<T>(n_) : value;
  }

  // The element of this rank's output.
  T promised(std::uint64_t i) const {
    switch (s_.collective) {
      case Collective::all_reduce:
      case Collective::reduce: return sum(i);
      case Collective::reduce_scatter: return sum(before(me_) + i);
      case Collective::broadcast: return given(s_.root, i);
      case Collective::scatter: return given(s_.root, before(me_) + i);
      case Collective::all_gather:
      case Collective::gather: {
        Rank owner = 0;
        while (i >= block(owner)) i -= block(owner++);
        return given(owner, i);
      }
      case Collective::all_to_all: {
        Rank owner = 0;
        for (; i >= pair(owner, me_); ++owner) i -= pair(owner, me_);
        for (Rank r = 0; r < me_; ++r) i += pair(owner, r);
        return given(owner, i);
      }
      case Collective::barrier:
      case Collective::send_receive: break;
    }
    return {};
  }

  const Scenario& s_;
  Rank me_;
  Rank n_;
  Area::Where where_;
  bool is_in_place_ = false;
};

// Empty, or what went wrong on this rank.
inline std::string play(Communicator& communicator, const Scenario& scenario) {
  const auto as = [&]<class T>(T) {
    const std::string failure = Part<T>(scenario, communicator.rank(), communicator.size()).play(communicator);
    if (failure.empty()) return failure;
    return fmt::format("rank {} of {}, {} ({}): {}", communicator.rank(), communicator.size(), scenario.text(),
                       communicator.last_plan(), failure);
  };
  switch (scenario.type) {
    case DataType::int8: return as(std::int8_t());
    case DataType::uint8: return as(std::uint8_t());
    case DataType::int32: return as(std::int32_t());
    case DataType::uint32: return as(std::uint32_t());
    case DataType::int64: return as(std::int64_t());
    case DataType::uint64: return as(std::uint64_t());
    case DataType::float16: return as(Narrow<Float16Format>());
    case DataType::float32: return as(float());
    case DataType::float64: return as(double());
    case DataType::bfloat16: return as(Narrow<Bfloat16Format>());
    case DataType::float8e4m3: return as(Narrow<Float8e4m3Format>());
    case DataType::float8e5m2: return as(Narrow<Float8e5m2Format>());
  }
  return "no such type";
}

// The same calls on every rank, drawn one after the other from the seed; every eighth may be large.
inline std::string play_many(Communicator& communicator, int calls, std::uint64_t bytes_max, std::uint64_t salt) {
  Random random(test_seed() * 1000 + salt);
  for (int i = 0; i < calls; ++i) {
    const Scenario scenario = draw_scenario(random, communicator.size(), i % 8 == 0 ? bytes_max : bytes_max / 64);
    const std::string failure = play(communicator, scenario);
    if (!failure.empty()) return fmt::format("TUTTI_SEED={} call {}: {}", test_seed(), i, failure);
  }
  return {};
}

}  // namespace tutti::conformance
