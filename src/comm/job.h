// One rank's place among all ranks that started together, over hosts: who they are, whether they live, and connections
// to them. Communicators that are split off share it.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/deadline.h"
#include "base/knobs.h"
#include "bootstrap/attachment.h"
#include "bootstrap/membership/joiner.h"
#include "bootstrap/membership/member.h"
#include "bootstrap/membership/roster.h"
#include "bootstrap/membership/switchboard.h"
#include "bootstrap/network/place.h"
#include "bootstrap/network/rails.h"
#include "comm/carrier.h"
#include "comm/recall.h"
#include "comm/watch/portrait.h"
#include "rpc/courier.h"
#include "tutti/identifier.h"

namespace tutti::comm {

// What a communicator hears of the others. Called on the job's thread; must not block.
class JobListener {
 public:
  virtual ~JobListener() = default;
  virtual void hear(ActorId from, std::span<const std::byte> notice) = 0;
  virtual Bytes answer() = 0;  // what this rank is doing
  virtual void accept(std::span<const std::byte> hello, rpc::Conduit conduit) = 0;
};

class Job : private bootstrap::MemberOwner {
 public:
  struct Settings {
    Identifier identifier;
    Rank rank = 0;
    Rank size = 1;
    Deadline deadline;
    Knobs knobs;
    const Recall* recall = nullptr;  // nullptr: nobody calls the start back
    // What the others learn of this rank, made from its own place; the place is needed by the caller too.
    std::function<Result<Bytes>(const bootstrap::Place&)> card;
  };
  // Returns when all ranks are there.
  static Result<std::shared_ptr<Job>> join(const Settings& settings);
  ~Job() override;

  // Who takes part now. Ranks change when a job shrinks; whoever remembers somebody remembers the actor.
  bootstrap::Joined standing() const;
  // Survivors agree on who is left. All of them call this.
  Result<bootstrap::Joined> shrink(Deadline deadline);
  // The same for those of one communicator; the others go on as before.
  Result<bootstrap::Joined> shrink_circle(std::uint64_t communicator, const std::vector<ActorId>& actors,
                                          Deadline deadline);

  bool is_encrypted() const { return is_encrypted_; }
  // What the hosts of these actors offer decides over which networks they talk.
  void set_offer(ActorId actor, bootstrap::Offer offer, UcxStance stance);
  // The same on every rank: both ends of a wire have to know how many connections it has.
  void set_connections(int rails_max, int sockets_per_rail);
  // One after the other, those with several connections as often as they have.
  Result<bootstrap::Rails> rails_to(ActorId actor) const;
  UcxStance stance_of(ActorId actor) const;
  Carrier carrier_to(ActorId actor) const;
  // A connection to an actor; it gives up when the actor is gone, or not wanted any more.
  Result<rpc::Conduit> dial(ActorId actor, std::uint32_t rail, std::span<const std::byte> hello, Deadline deadline,
                            const std::function<bool()>& is_wanted);

  // Why an actor takes part no more, as in "which ..."; empty: it does.
  std::string why_gone(ActorId actor) const;
  std::chrono::milliseconds silence() const;  // after which nobody is waited for
  // Whether it is gone because nothing is heard of it: its connections may seem to be well.
  bool is_silent(ActorId actor) const;
  void spread(std::uint64_t communicator, Bytes notice);
  // What rank 0 tells all ranks once, at the start. The others wait for it, as long as rank 0 takes part.
  void announce(Bytes bytes);
  Result<Bytes> await_announcement(Deadline deadline) const;
  // What an actor does in a communicator. The answer comes on the job's thread; one that does not come is a failure.
  void ask(ActorId actor, std::uint64_t communicator, std::function<void(Result<Bytes>)> answer);
  // What the main thread of an actor's process is doing, the same way; an empty answer: it is being found out.
  void ask_portrait(ActorId actor, std::function<void(Result<Bytes>)> answer);
  // Small things that others may fetch, by name; obtain() waits until they are there.
  void offer(std::uint64_t name, Bytes bytes);
  Result<Bytes> obtain(ActorId actor, std::uint64_t name, Deadline deadline);

  // From now on that communicator hears; after resign() it hears nothing more.
  void enrol(std::uint64_t communicator, JobListener& listener);
  void resign(std::uint64_t communicator);

 private:
  explicit Job(Knobs knobs) : knobs_(std::move(knobs)) {}
  Status meet(const Settings& settings, const bootstrap::Place& place, Bytes card);
  void accept(Bytes hello, rpc::Conduit conduit);
  JobListener* listener_of(std::uint64_t communicator) const;
  void install(const bootstrap::Joined& joined);
  using Agree = std::function<void(bootstrap::Member&, bootstrap::Member::ShrinkSink)>;
  Result<bootstrap::Joined> wait_for_agreement(const Agree& agree);
  void question(ActorId actor, Bytes bytes, std::chrono::nanoseconds within, std::function<void(Result<Bytes>)> answer);

  void on_gone(const bootstrap::Departure& departure) override;
  void on_notice(Rank from, std::span<const std::byte> notice) override;
  Bytes on_question(Rank from, std::span<const std::byte> question) override;

  Knobs knobs_;
  watch::Portrait portrait_;
  bool is_encrypted_ = false;
  std::unique_ptr<rpc::Courier> courier_;
  std::unique_ptr<bootstrap::Attachment<bootstrap::Switchboard>> switchboard_;
  bootstrap::Member* member_ = nullptr;  // of the switchboard

  struct Early {
    Bytes hello;
    rpc::Conduit conduit;
  };
  // A mutex because communicators come and go on any thread while the job's thread hears of them.
  mutable std::mutex mutex_;
  bootstrap::Joined standing_;
  std::map<ActorId, bootstrap::Participant> participants_;  // who ever took part
  std::map<ActorId, bootstrap::Offer> offers_;
  std::map<ActorId, UcxStance> stances_;
  int rails_max_ = 1;
  int sockets_per_rail_ = 1;
  struct Gone {
    std::string why;
    bool is_silent = false;
  };
  std::map<ActorId, Gone> gone_;
  std::map<std::uint64_t, JobListener*> listeners_;
  std::map<std::uint64_t, Bytes> offered_;
  std::vector<Early> early_;  // for communicators that do not exist here yet
  std::optional<Bytes> announcement_;
  mutable std::condition_variable has_news_;  // an announcement, or somebody is gone
};

}  // namespace tutti::comm
