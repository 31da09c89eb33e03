// The other hosts of a communicator, through the job that its ranks started in.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/job.h"
#include "comm/outside.h"
#include "comm/side.h"

namespace tutti::comm {

class Abroad final : public Outside, private JobListener {
 public:
  // `job_ranks`: which rank of the job each rank of the communicator is.
  Abroad(std::shared_ptr<Job> job, std::vector<Rank> job_ranks, Side& side, Links::Shape shape);
  ~Abroad() override;

  Job& job() { return *job_; }
  const std::shared_ptr<Job>& shared_job() const { return job_; }
  std::uint64_t communicator() const { return shape_.communicator; }
  Rank job_rank(Rank rank) const { return job_ranks_[static_cast<std::size_t>(rank)]; }

  Links& links() override { return links_; }
  void spread_end(Code code, std::string_view why) noexcept override;
  void spread_leaving() noexcept override;
  bool is_gone(Rank rank) const override;
  Standing look_at(Rank rank, std::uint32_t call) override;

 private:
  void hear(Rank from, std::span<const std::byte> notice) override;
  Bytes answer(Rank from, std::span<const std::byte> question) override;
  void accept(std::span<const std::byte> hello, rpc::Conduit conduit) override;
  void lose(Rank rank) override;

  Links::Dialer dialer();
  Rank rank_of(Rank job_rank) const;  // kNoRank: not in this communicator

  std::shared_ptr<Job> job_;
  std::vector<Rank> job_ranks_;
  Side& side_;
  Links::Shape shape_;
  Links links_;

  // What ranks answered when they were asked what they do. shared: an answer may come when nobody waits any more.
  struct Inquiries {
    struct Inquiry {
      bool is_under_way = false;
      std::string text;
    };
    std::mutex mutex;
    std::map<Rank, Inquiry> by_rank;
  };
  std::shared_ptr<Inquiries> inquiries_ = std::make_shared<Inquiries>();
};

}  // namespace tutti::comm
