// The processes of a check, one on each host, and how two of them get a connection between them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/world.h"
#include "bootstrap/env/launch.h"
#include "bootstrap/network/offer.h"
#include "bootstrap/store.h"
#include "rpc/courier.h"
#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::tool::check {

// What a process tells the others of itself, as bytes in the store.
struct PartyCard {
  Contact contact;
  bootstrap::Offer offer;
};
Bytes encode(const PartyCard& card);
Result<PartyCard> parse_card(std::span<const std::byte> bytes);

// Nobody waits for a partner that has died or hangs: who has come to a round and waits for its partner asks now and
// then whether that one still answers, and tells all others through the store when it does not.
class Party {
 public:
  // Meets the others. The secret of the job guards every connection.
  static Result<std::unique_ptr<Party>> join(const bootstrap::Launch& launch, Deadline deadline);
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;
  ~Party();

  Rank rank() const { return rank_; }
  Rank size() const { return size_; }
  // Both sides call it for the same round. The one with the smaller rank connects, over the addresses that a job of
  // Tutti would use.
  Result<rpc::Conduit> meet(Rank partner, Rank round, Deadline deadline);
  std::string way_to(Rank partner) const;  // "eth0 to eth0", or why there is none

 private:
  Party(Rank rank, Rank size, std::unique_ptr<bootstrap::Store> store)
      : rank_(rank), size_(size), store_(std::move(store)) {}
  Status open(const bootstrap::Launch& launch, Deadline deadline);
  void take(Bytes announcement, rpc::Conduit conduit);
  Result<rpc::Conduit> connect(Rank partner, const Bytes& announcement);
  Result<rpc::Conduit> wait_for(Rank partner, Rank round, Deadline deadline);
  Result<rpc::Conduit> call(Rank partner, Rank round, Deadline deadline);
  Status ask_life(Rank partner);
  Status find_loss(Rank partner);
  void tell_loss(Rank partner, std::string_view why);

  Rank rank_;
  Rank size_;
  std::unique_ptr<bootstrap::Store> store_;
  std::vector<PartyCard> cards_;  // by rank
  std::mutex mutex_;
  std::condition_variable came_;
  std::map<std::pair<Rank, Rank>, rpc::Conduit> visits_;  // by rank and round; guarded by mutex_
  std::unique_ptr<rpc::Courier> courier_;                 // the last member: its thread ends before the others go
};

}  // namespace tutti::tool::check
