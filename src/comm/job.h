// One rank's place among all ranks that started together, over hosts: who they are, whether they live, and connections
// to them. Communicators that are split off share it.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/deadline.h"
#include "base/knobs.h"
#include "bootstrap/attachment.h"
#include "bootstrap/membership/member.h"
#include "bootstrap/membership/roster.h"
#include "bootstrap/membership/switchboard.h"
#include "bootstrap/network/place.h"
#include "bootstrap/network/rails.h"
#include "rpc/courier.h"
#include "tutti/identifier.h"

namespace tutti::comm {

// What a communicator hears of the others. Called on the job's thread; must not block.
class JobListener {
 public:
  virtual ~JobListener() = default;
  virtual void hear(Rank from, std::span<const std::byte> notice) = 0;
  virtual Bytes answer(Rank from, std::span<const std::byte> question) = 0;
  virtual void accept(std::span<const std::byte> hello, rpc::Conduit conduit) = 0;
  virtual void lose(Rank rank) = 0;
};

class Job : private bootstrap::MemberOwner {
 public:
  struct Settings {
    Identifier identifier;
    Rank rank = 0;
    Rank size = 1;
    Deadline deadline;
    Knobs knobs;
    // What the others learn of this rank, made from its own place; the place is needed by the caller too.
    std::function<Result<Bytes>(const bootstrap::Place&)> card;
  };
  // Returns when all ranks are there.
  static Result<std::shared_ptr<Job>> join(const Settings& settings);
  ~Job() override;

  Rank rank() const { return rank_; }
  Rank size() const { return roster_.size(); }
  const bootstrap::Roster& roster() const { return roster_; }

  // Offers of all ranks, which the cards carry. Decides over which networks ranks talk.
  void set_offers(std::vector<bootstrap::Offer> offers) { offers_ = std::move(offers); }
  Result<bootstrap::Rails> rails_to(Rank rank) const;
  Result<rpc::Conduit> dial(Rank rank, std::uint32_t rail, std::span<const std::byte> hello, Deadline deadline);

  // Why a rank takes part no more, as in "which ..."; empty: it does.
  std::string why_gone(Rank rank) const;
  void spread(std::uint64_t communicator, Bytes notice);
  // The answer comes on the job's thread; a rank that does not answer in time is a failure.
  void ask(Rank rank, std::uint64_t communicator, Bytes question, std::function<void(Result<Bytes>)> answer);

  // From now on that communicator hears; after resign() it hears nothing more.
  void enrol(std::uint64_t communicator, JobListener& listener);
  void resign(std::uint64_t communicator);

 private:
  Job(Rank rank, Knobs knobs) : rank_(rank), knobs_(std::move(knobs)) {}
  Status meet(const Settings& settings, const bootstrap::Place& place, Bytes card);
  void accept(Bytes hello, rpc::Conduit conduit);

  void on_gone(const bootstrap::Departure& departure) override;
  void on_notice(Rank from, std::span<const std::byte> notice) override;
  Bytes on_question(Rank from, std::span<const std::byte> question) override;

  Rank rank_;
  Knobs knobs_;
  bootstrap::Roster roster_;
  std::vector<bootstrap::Offer> offers_;
  std::unique_ptr<rpc::Courier> courier_;
  std::unique_ptr<bootstrap::Attachment<bootstrap::Switchboard>> switchboard_;
  bootstrap::Member* member_ = nullptr;  // of the switchboard

  struct Early {
    Bytes hello;
    rpc::Conduit conduit;
  };
  // A mutex because communicators come and go on any thread while the job's thread hears of them.
  mutable std::mutex mutex_;
  std::map<std::uint64_t, JobListener*> listeners_;
  std::map<Rank, bootstrap::Departure> gone_;
  std::vector<Early> early_;  // for communicators that do not exist here yet
};

}  // namespace tutti::comm
