// Who waits for which key, and until when.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/world.h"

namespace tutti::bootstrap {

struct CallId {
  ActorId client;
  std::uint64_t number = 0;
  auto operator<=>(const CallId&) const = default;
};

class Waits {
 public:
  std::size_t size() const { return waits_.size(); }
  std::size_t count_of(ActorId client) const;
  std::optional<Time> next() const;  // when the first of them ends

  void add(const CallId& call, std::string_view key, Time until);  // one that is there already is replaced
  void remove(const CallId& call);                                 // if it is there
  void drop(ActorId client);
  std::vector<CallId> take(std::string_view key);  // those who waited for it
  std::vector<CallId> take_due(Time now);          // those whose time is over

 private:
  struct Wait {
    std::string key;
    Time until;
  };
  using Entry = std::map<CallId, Wait>::iterator;
  void erase(Entry entry);

  std::map<CallId, Wait> waits_;
  std::map<std::string, std::set<CallId>, std::less<>> by_key_;
  std::set<std::pair<Time, CallId>> by_time_;
};

}  // namespace tutti::bootstrap
