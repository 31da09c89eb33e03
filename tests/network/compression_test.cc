// Sums that travel between hosts in fewer bits: how near they are, that all ranks have the same, and what is left
// alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "comm/side.h"
#include "comm/start.h"
#include "tests/conformance/area.h"
#include "tests/conformance/scenario.h"
#include "tests/network/job.h"
#include "tests/plans/seed.h"

namespace tutti::network {
namespace {

using conformance::Area;
using conformance::play_many;
using plan::Collective;
using std::chrono::seconds;

// Uneven, and not always block by block.
const std::vector<std::vector<int>> kPlaces = {{0, 1}, {0, 0, 1}, {0, 1, 0, 1}, {0, 1, 2}, {2, 0, 1, 0, 2}};

Environment compressed(const std::string& as) { return {{"TUTTI_COMPRESS", as}}; }

// Half a unit in the last place of a value of 1 to 2: what rounding once changes at most.
double rounding_of(const std::string& as) { return as == "bf16" ? std::ldexp(1.0, -8) : std::ldexp(1.0, -11); }

struct Question {
  Collective collective = Collective::all_reduce;
  Op op = Op::sum;
  std::uint64_t count = 0;
  Rank root = 0;
  bool is_shared = false;
  bool is_in_place = false;

  std::string text() const {
    return fmt::format("{} {} of {}, root {}{}{}", plan::name_of(collective), name_of(op), count, root,
                       is_shared ? ", shared" : "", is_in_place ? ", in place" : "");
  }
};

double factor_of(const Question& question, Rank rank, Rank size) {
  if (question.op == Op::average) return 1.0 / size;
  return question.op == Op::scaled_sum ? 0.5 * rank - 0.75 : 1;
}

// The elements of any rank: every rank can make up those of all. `make(random)` gives the next.
template <class Make>
std::vector<float> inputs(const Question& question, Rank rank, std::uint64_t elements, const Make& make) {
  Random random(test_seed() + 31 * static_cast<std::uint64_t>(rank) + question.count);
  std::vector<float> values(elements);
  for (float& value : values) value = make(random);
  return values;
}

float some_float(Random& random) {
  const double magnitude =
      std::ldexp(1.0 + static_cast<double>(random.below(1 << 20)) / (1 << 20), static_cast<int>(random.below(12)) - 6);
  return static_cast<float>(random.below(2) == 0 ? magnitude : -magnitude);
}

// Sums of a few of them are exact with 8 bits.
float small_integer(Random& random) { return static_cast<float>(random.below(33)) - 16; }

struct Asked {
  comm::Side& side;
  Question question;
  std::uint64_t first = 0;  // of the output's elements among those of the input
  Call call;
};

Asked ask(comm::Side& side, const Question& question) {
  Asked asked{.side = side, .question = question, .call = {}};
  asked.call = {.collective = question.collective, .count = question.count, .root = question.root};
  asked.call.reduction = question.op == Op::scaled_sum
                             ? Reduction::scaled(factor_of(question, side.rank(), side.size()))
                             : Reduction(question.op);
  if (question.collective == Collective::reduce_scatter) {
    asked.first = question.count * static_cast<std::uint64_t>(side.rank());
  }
  return asked;
}

// The output of this rank, or why there is none.
template <class Make>
Result<std::vector<float>> answer(Asked asked, const Make& make) {
  const Question& question = asked.question;
  const comm::BufferSizes sizes = comm::buffer_sizes(asked.call, asked.side.rank(), asked.side.size());
  const auto mine = inputs(question, asked.side.rank(), sizes.in_elements, make);
  Area in(mine.size() * sizeof(float), {.is_shared = question.is_shared, .shift = 4});
  Area out(sizes.out_elements * sizeof(float), {.is_shared = question.is_shared, .shift = 12});
  std::memcpy(in.data(), mine.data(), mine.size() * sizeof(float));
  asked.call.in = in.data();
  asked.call.out = question.is_in_place ? in.data() : out.data();
  TUTTI_TRY(asked.side.run(asked.call));
  if (!in.is_intact() || !out.is_intact()) return Status(Code::internal, "bytes around the buffers have changed");
  std::vector<float> result(sizes.out_elements);
  const auto to = std::as_writable_bytes(std::span(result));  // of no elements, where this rank gets none
  std::copy_n(static_cast<const std::byte*>(asked.call.out), to.size(), to.begin());
  return result;
}

// Against sums in float64: as far from them as roundings on the way allow.
std::string compare(comm::Side& side, const Question& question, double rounding) {
  const Asked asked = ask(side, question);
  const auto result = answer(asked, some_float);
  if (!result) return question.text() + ": " + spoken(result.status());
  const std::uint64_t elements = comm::buffer_sizes(asked.call, side.rank(), side.size()).in_elements;
  std::vector<double> wanted(elements);
  std::vector<double> magnitude(elements);
  for (Rank rank = 0; rank < side.size(); ++rank) {
    const auto values = inputs(question, rank, elements, some_float);
    const double factor = factor_of(question, rank, side.size());
    for (std::size_t i = 0; i < elements; ++i) {
      wanted[i] += factor * values[i];
      magnitude[i] += std::fabs(factor * values[i]);
    }
  }
  bool has_rounded = false;
  for (std::size_t i = 0; i < result->size(); ++i) {
    const std::size_t at = asked.first + i;
    const double error = std::fabs((*result)[i] - wanted[at]);
    has_rounded = has_rounded || error > 1e-6 * magnitude[at];
    if (error <= side.size() * rounding * magnitude[at]) continue;
    return fmt::format("{}: element {} of rank {} is {}, not {}", question.text(), i, side.rank(), (*result)[i],
                       wanted[at]);
  }
  const bool is_asked_for = question.collective != Collective::reduce || side.rank() == question.root;
  return has_rounded || !is_asked_for ? "" : question.text() + ": nothing was rounded";
}

// Small integers are what they are in any type.
std::string compare_integers(comm::Side& side, const Question& question) {
  const Asked asked = ask(side, question);
  const auto result = answer(asked, small_integer);
  if (!result) return question.text() + ": " + spoken(result.status());
  std::vector<float> wanted(comm::buffer_sizes(asked.call, side.rank(), side.size()).in_elements);
  for (Rank rank = 0; rank < side.size(); ++rank) {
    const auto values = inputs(question, rank, wanted.size(), small_integer);
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += values[i];
  }
  for (std::size_t i = 0; i < result->size(); ++i) {
    if ((*result)[i] == wanted[asked.first + i]) continue;
    return fmt::format("{}: element {} is {}, not {}", question.text(), i, (*result)[i], wanted[asked.first + i]);
  }
  return {};
}

// Of an all_reduce: the largest pattern of any rank is the smallest one.
std::string compare_bits(comm::Side& side, const Question& question) {
  const auto result = answer(ask(side, question), some_float);
  if (!result) return question.text() + ": " + spoken(result.status());
  for (const Op op : {Op::max, Op::min}) {
    std::vector<float> other(result->size());
    const Status status = side.run(
        {.in = result->data(), .out = other.data(), .count = other.size(), .type = DataType::uint32, .reduction = op});
    if (!status) return spoken(status);
    if (std::memcmp(other.data(), result->data(), other.size() * sizeof(float)) != 0) {
      return fmt::format("{}: rank {} has other bits than others", question.text(), side.rank());
    }
  }
  return {};
}

std::string compare_all(comm::Side& side, double rounding) {
  std::uint64_t seed = 0;
  for (const Collective collective : {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter}) {
    for (const Op op : {Op::sum, Op::average, Op::scaled_sum}) {
      for (const std::uint64_t count : {8193, 20'011, 300'007}) {
        if (count > 100'000 && op != Op::sum && !runs_all()) continue;
        Question question{collective, op, count, static_cast<Rank>(++seed) % side.size()};
        question.is_shared = seed % 2 == 0;
        question.is_in_place = seed % 3 == 0 && collective != Collective::reduce_scatter;
        if (std::string failure = compare(side, question, rounding); !failure.empty()) return failure;
        if (op == Op::sum) {
          if (std::string failure = compare_integers(side, question); !failure.empty()) return failure;
        }
        if (collective != Collective::all_reduce) continue;
        if (std::string failure = compare_bits(side, question); !failure.empty()) return failure;
      }
    }
  }
  return {};
}

std::uint64_t bytes_sent(const Lab& lab, int host) {
  const auto text = lab.run(host, {.words = {"cat", "/sys/class/net/eth0/statistics/tx_bytes"}}, seconds(10));
  return text ? std::stoull(*text) : 0;
}

class Compression : public OnHosts {
 protected:
  // A job of sides, whose last plan can be looked at.
  static void expect(const std::vector<int>& hosts, const JobOptions& options,
                     const std::function<std::string(comm::Side&)>& work) {
    const Lab lab = create({.host_count = 3});
    const auto size = static_cast<Rank>(hosts.size());
    Job job(lab, hosts, options, [&](Rank rank, const Letter& letter) -> std::string {
      if (rank == 0) {
        const auto identifier = Identifier::create();
        letter.write(identifier ? identifier->text() : "none");
      }
      CommunicatorOptions own{.rank = rank, .size = size, .store = "tcp:" + letter.read()};
      own.algorithm = options.algorithm;
      auto side = comm::start(own);
      if (!side) return spoken(side.status());
      const std::string failure = work(**side);
      if (!failure.empty()) (*side)->end(Code::aborted, "a rank of the test has failed: " + failure);
      return failure;
    });
    job.expect_success();
  }
};

TEST_F(Compression, SumsAreNearAndTheSameOnAllRanks) {
  for (const std::vector<int>& hosts : kPlaces) {
    for (const std::string as : {"bf16", "fp16"}) {
      expect(hosts, {.environment = compressed(as)},
             [&](comm::Side& side) { return compare_all(side, rounding_of(as)); });
      if (HasFailure()) return;
    }
  }
}

TEST_F(Compression, EveryAlgorithmGivesAllRanksTheSameBits) {
  for (const std::string algorithm :
       {"ring", "halving", "tree", "hierarchical_ring", "hierarchical_halving", "hierarchical_tree", "leader_tree"}) {
    expect({0, 1, 1, 2, 0}, {.environment = compressed("bf16"), .algorithm = algorithm}, [](comm::Side& side) {
      std::string failure;
      for (const std::uint64_t count : {8193, 100'003}) {
        for (const bool is_shared : {false, true}) {
          if (!failure.empty()) continue;
          failure = compare_bits(side, {.op = Op::average, .count = count, .is_shared = is_shared});
        }
      }
      return failure;
    });
    if (HasFailure()) FAIL() << algorithm;
  }
}

TEST_F(Compression, AlgorithmsThatAddUpEverywhereAreRefusedByName) {
  for (const std::string algorithm : {"pairwise", "leader_pairwise"}) {
    expect({0, 0, 1}, {.environment = compressed("fp16"), .algorithm = algorithm}, [&](comm::Side& side) {
      const auto result = answer(ask(side, {.count = 9000}), some_float);
      const std::string text = result ? "no error" : spoken(result.status());
      return text.find(algorithm +
                       " cannot run all_reduce over 3 ranks here with the same bits on all of them under "
                       "TUTTI_COMPRESS") != std::string::npos
                 ? ""
                 : text;
    });
    if (HasFailure()) return;
  }
}

// The definition of each collective, with values that all types hold exactly; other types and operations lose nothing.
TEST_F(Compression, EveryCollectiveStillGivesWhatItPromises) {
  const Lab lab = create();
  Job job(lab, {0, 1, 1}, [](Communicator& communicator) { return play_many(communicator, 100, 1 << 20, 900); },
          {.environment = compressed("fp16")});
  job.expect_success();
}

// Values that no narrow type holds, in calls that are not to be compressed, keep every bit.
TEST_F(Compression, OtherCallsAreLeftAlone) {
  expect({0, 1, 1}, {.environment = compressed("bf16")}, [](comm::Side& side) -> std::string {
    constexpr std::uint64_t kCount = 20'011;
    const auto n = static_cast<std::size_t>(side.size());
    const float odd = 1.0f + std::ldexp(1.0f, -20);
    const std::vector<float> in(kCount, odd);
    const auto run = [&](Call call, const auto& wanted, std::size_t elements) -> std::string {
      auto out = std::vector<std::decay_t<decltype(wanted)>>(elements);
      call.out = out.data();
      if (const Status status = side.run(call); !status) return spoken(status);
      return out == std::vector<std::decay_t<decltype(wanted)>>(elements, wanted) ? "" : comm::describe(call);
    };
    const Call plain{.in = in.data(), .count = kCount};
    Call call = plain;
    call.reduction = Op::max;
    std::string failure = run(call, odd, kCount);
    call.reduction = Op::sum;
    call.count = 8191;  // too few bytes to be worth it
    if (failure.empty()) failure = run(call, odd * 3, 8191);
    call = plain;
    call.collective = Collective::all_gather;
    if (failure.empty()) failure = run(call, odd, kCount * n);
    call.collective = Collective::broadcast;
    if (failure.empty()) failure = run(call, odd, kCount);
    const std::vector<double> wide(kCount, 1.0 + std::ldexp(1.0, -40));
    call = {.in = wide.data(), .count = kCount, .type = DataType::float64};
    if (failure.empty()) failure = run(call, wide[0] * 3, kCount);
    return failure;
  });
}

TEST_F(Compression, InsideAHostSumsAreExact) {
  expect({0, 0, 0}, {.environment = compressed("bf16")}, [](comm::Side& side) -> std::string {
    const float odd = 1.0f + std::ldexp(1.0f, -20);
    std::vector<float> data(20'011, odd);
    const Status status = side.run({.in = data.data(), .out = data.data(), .count = data.size()});
    if (!status) return spoken(status);
    return data == std::vector<float>(data.size(), odd * 3) ? "" : "it was rounded";
  });
}

TEST_F(Compression, HalvesTheBytesBetweenHosts) {
  constexpr std::uint64_t kBytes = 16 << 20;
  std::vector<std::uint64_t> sent;
  for (const std::string as : {"off", "bf16"}) {
    const Lab lab = create();
    Job job(lab, {0, 1},
            [](Communicator& communicator) -> std::string {
              std::vector<float> data(kBytes / sizeof(float), 1);
              if (const Status status = communicator.all_reduce(std::span(data)); !status) return spoken(status);
              return data == std::vector<float>(data.size(), 2) ? "" : "wrong sums";
            },
            {.environment = {{"TUTTI_COMPRESS", as}, {"TUTTI_MEASURE", "off"}}});  // measuring sends some, too
    job.expect_success();
    sent.push_back(bytes_sent(lab, 0));
  }
  EXPECT_GT(sent[0], kBytes);
  EXPECT_LT(static_cast<double>(sent[1]), 0.55 * static_cast<double>(sent[0]));
}

TEST_F(Compression, ExplainNamesIt) {
  for (const std::string as : {"off", "bf16", "fp16"}) {
    expect({0, 1}, {.environment = compressed(as)}, [&](comm::Side& side) -> std::string {
      const std::string text = side.explain({.count = 100'000});
      const std::string type = as == "off" ? "" : as == "bf16" ? "bfloat16" : "float16";
      const bool is_named = text.find("values travel between hosts as " + type) != std::string::npos;
      if (is_named != (as != "off")) return text;
      return side.explain({.count = 100}).find("values travel") == std::string::npos ? "" : "a small one, too";
    });
    if (HasFailure()) return;
  }
}

TEST_F(Compression, RanksThatDoNotAgreeAreToldWhoAndHow) {
  const Lab lab = create();
  Job job(lab, {0, 1, 1}, {}, [](Rank rank, const Letter& letter) -> std::string {
    ::setenv("TUTTI_COMPRESS", rank == 2 ? "fp16" : "bf16", 1);
    const auto communicator = Job::meet(rank, 3, letter);
    return communicator ? "started" : spoken(communicator.status());
  });
  for (const std::string& text : job.finish()) {
    expect_in(text, {"TUTTI_COMPRESS is bf16 on rank 0 and fp16 on rank 2; give all ranks the same"});
  }
}

TEST_F(Compression, ABadValueIsAnError) {
  const Lab lab = create();
  Job job(lab, {0}, {.environment = compressed("zip")}, [](Rank, const Letter& letter) {
    const auto communicator = Job::meet(0, 1, letter);
    return communicator ? "started" : spoken(communicator.status());
  });
  expect_in(job.finish()[0], {"TUTTI_COMPRESS: 'zip' is not known; it takes off, bf16 or fp16"});
}

}  // namespace
}  // namespace tutti::network
