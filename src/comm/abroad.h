// The other hosts of a communicator, through the job that its ranks started in.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "comm/job.h"
#include "comm/outside.h"
#include "comm/side.h"
#include "transport/ucx.h"

namespace tutti::comm {

class Abroad final : public Outside, private JobListener {
 public:
  // `actors`: who the ranks of the communicator are.
  Abroad(std::shared_ptr<Job> job, std::vector<ActorId> actors, Side& side, const Links::Shape& shape);
  ~Abroad() override;

  Links& links() override { return links_; }
  void spread_end(Code code, std::string_view why) noexcept override;
  void spread_leaving() noexcept override;
  bool is_gone(Rank rank) const override;
  Standing look_at(Rank rank, std::uint32_t call) override;
  std::string portrait_of(Rank rank) override;
  std::uint64_t name() const override { return shape_.communicator; }
  std::unique_ptr<Outside> part(std::span<const Rank> ranks, Side& side, const Links::Shape& shape) const override;
  Result<Survivors> agree_on_survivors(Deadline deadline) override;
  void offer(std::uint64_t name, Bytes bytes) override { job_->offer(name, std::move(bytes)); }
  Result<Bytes> obtain(Rank rank, std::uint64_t name, Deadline deadline) override {
    return job_->obtain(actor(rank), name, deadline);
  }

 private:
  ActorId actor(Rank rank) const { return actors_[static_cast<std::size_t>(rank)]; }
  void hear(ActorId from, std::span<const std::byte> notice) override;
  Bytes answer() override;
  void accept(std::span<const std::byte> hello, rpc::Conduit conduit) override;

  Links::Dialer dialer();
  Result<std::unique_ptr<transport::ConduitWire>> create_wire(
      Rank rank, const std::array<transport::Remote*, transport::kPorts>& ports, std::uint32_t rails);
  std::string name_of_rail(Rank rank, std::uint32_t rail) const;
  std::string carriers() const;
  Rank rank_of(ActorId actor) const;  // kNoRank: not in this communicator

  std::shared_ptr<Job> job_;
  std::vector<ActorId> actors_;
  bool is_whole_;  // all ranks of the job are in it, as far as they take part
  Side& side_;
  Links::Shape shape_;
  transport::CreateUcxWire create_ucx_wire_;  // empty until there is a wire over UCX
  Links links_;

  // What ranks answered when they were asked what they do. shared: an answer may come when nobody waits any more.
  struct Inquiries {
    struct Inquiry {
      bool is_under_way = false;
      Time came;
      std::optional<Result<Bytes>> answer;  // the last
    };
    std::mutex mutex;
    std::map<Rank, Inquiry> activities;
    std::map<Rank, Inquiry> portraits;
  };
  std::shared_ptr<Inquiries> inquiries_ = std::make_shared<Inquiries>();
};

}  // namespace tutti::comm
