// Sums of any floats over hosts, whose bits depend on the order of additions: they are those that the reference gives
// for the plan that ran.
#include <gtest/gtest.h>

#include "comm/side.h"
#include "comm/start.h"
#include "tests/conformance/trial.h"
#include "tests/network/job.h"
#include "tests/plans/seed.h"

namespace tutti::network {
namespace {

using conformance::is_same_element;
using plan::Collective;

class Reference : public OnHosts {};

struct Question {
  Collective collective = Collective::all_reduce;
  DataType type = DataType::float32;
  Op op = Op::sum;
  std::uint64_t count = 0;
  Rank root = 0;

  std::string text() const {
    return fmt::format("{} of {} {} {}, root {}", plan::name_of(collective), count, name_of(type), name_of(op), root);
  }
};

double factor_of(Rank rank) { return 0.75 * rank - 0.5; }

// The input of any rank: every rank can make up those of all.
std::vector<std::byte> input_of(const Question& question, Rank rank, std::size_t bytes) {
  Random random(test_seed() + 31 * static_cast<std::uint64_t>(rank) + question.count);
  std::vector<std::byte> input(bytes);
  conformance::fill(question.type, input, random);
  return input;
}

// The plan that the last call of this rank ran, for all ranks.
Result<plan::Plan> plan_of(const engine::Launch& launch, const std::vector<int>& hosts, const Question& question) {
  const plan::Header& header = launch.prepared->header;
  const plan::Algorithm* algorithm = plan::find_algorithm(header.algorithm, header.collective);
  if (algorithm == nullptr) return Status(Code::internal, "no algorithm " + header.algorithm);
  plan::Shape shape;
  shape.collective = header.collective;
  shape.ranks = header.ranks;
  shape.root = question.root;
  shape.lanes = static_cast<std::uint32_t>(launch.prepared->program.lanes.size());
  shape.in_place = true;
  shape.reach = std::min(header.reach, plan::Reach::stage);  // buffers are of processes alone
  for (const int host : hosts) shape.host_of.push_back(static_cast<std::uint32_t>(host));
  return plan::build(*algorithm, shape);
}

std::string compare(comm::Side& side, const std::vector<int>& hosts, const Question& question) {
  Call call{.collective = question.collective, .count = question.count, .type = question.type, .root = question.root};
  call.reduction = question.op == Op::scaled_sum ? Reduction::scaled(factor_of(side.rank())) : Reduction(question.op);
  const std::size_t size = size_of(question.type);
  const comm::BufferSizes sizes = comm::buffer_sizes(call, side.rank(), side.size());
  const std::vector<std::byte> in = input_of(question, side.rank(), sizes.in_elements * size);
  std::vector<std::byte> out(sizes.out_elements * size);
  call.in = in.data();
  call.out = out.data();
  if (const Status status = side.run(call); !status) return spoken(status);
  const engine::Launch& launch = *side.track_of(call).last;
  const auto plan = plan_of(launch, hosts, question);
  if (!plan) return spoken(plan.status());
  const auto maps = plan::even_maps(*plan, question.count);
  plan::Memories memories = plan::create_memories(maps, question.type);
  plan::InterpretOptions options{.type = question.type, .op = question.op, .factors = {}, .seed = question.count};
  for (Rank rank = 0; rank < side.size(); ++rank) {
    auto& input = memories.in[static_cast<std::size_t>(rank)];
    input = input_of(question, rank, input.size());
    if (question.op == Op::scaled_sum) options.factors.push_back(factor_of(rank));
  }
  if (const Status status = plan::interpret(*plan, maps, options, memories); !status) return spoken(status);
  const plan::Extent mine = question.collective == Collective::reduce_scatter
                                ? plan::Extent{question.count * static_cast<std::uint64_t>(side.rank()), question.count}
                                : plan::Extent{0, sizes.out_elements};
  const std::byte* wanted = memories.out[static_cast<std::size_t>(side.rank())].data() + mine.offset * size;
  for (std::size_t at = 0; at < out.size(); at += size) {
    if (is_same_element(question.type, true, out.data() + at, wanted + at)) continue;
    return fmt::format("{} ({}): element {} of rank {}", question.text(), plan->algorithm, at / size, side.rank());
  }
  return {};
}

TEST_F(Reference, GivesTheBitsOfSums) {
  for (const std::vector<int>& hosts :
       {std::vector<int>{0, 0, 1}, std::vector<int>{0, 1, 1, 1}, std::vector<int>{0, 1, 2, 0, 2}}) {
    const Lab lab = create({.host_count = 3});
    const auto size = static_cast<Rank>(hosts.size());
    Job job(lab, hosts, {}, [&](Rank rank, const Letter& letter) -> std::string {
      if (rank == 0) {
        const auto identifier = Identifier::create();
        letter.write(identifier ? identifier->text() : "none");
      }
      CommunicatorOptions options{.rank = rank, .size = size, .store = "tcp:" + letter.read()};
      auto side = comm::start(options);
      if (!side) return spoken(side.status());
      for (const DataType type : {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16,
                                  DataType::float8e4m3, DataType::float8e5m2}) {
        for (const Op op : {Op::sum, Op::product, Op::average, Op::scaled_sum, Op::min}) {
          for (const Collective collective : {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter}) {
            for (const std::uint64_t count : {1, 1013, 70'003}) {
              if (count > 10'000 && type != DataType::float32 && !runs_all()) continue;
              const Question question{collective, type, op, count, static_cast<Rank>(count) % size};
              const std::string failure = compare(**side, hosts, question);
              if (failure.empty()) continue;
              (*side)->end(Code::aborted, "a rank of the test has failed");
              return failure;
            }
          }
        }
      }
      return {};
    });
    job.expect_success();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tutti::network
