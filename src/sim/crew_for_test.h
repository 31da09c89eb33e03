// Members of a running job in the simulated world, and what their owners were told.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bootstrap/membership/member.h"
#include "bootstrap/membership/switchboard.h"
#include "sim/world.h"

namespace tutti::sim {

class Crew {
 public:
  struct Told {
    Time time;
    bootstrap::Departure departure;
  };
  struct Shrunk {
    Time time;
    Status status;
    std::uint64_t epoch = 0;
    Rank rank = kNoRank;
    std::vector<ActorId> roster;
  };
  struct Person final : bootstrap::MemberOwner {
    Crew* crew = nullptr;
    Rank first_rank = kNoRank;
    Contact contact;
    bootstrap::Switchboard* board = nullptr;
    bootstrap::Member* member = nullptr;  // only while it lives
    std::vector<Told> told;
    std::vector<std::pair<Rank, std::string>> notices;
    std::vector<Shrunk> shrunk;
    bool is_shrinking = false;
    std::optional<Deadline> shrinks_until;  // shrinks by itself whenever somebody has gone
    std::uint64_t circle = 0;               // that shrinks; 0: all do
    bootstrap::Roster circle_roster;
    std::set<ActorId> gone;

    void on_gone(const bootstrap::Departure& departure) override {
      told.push_back({crew->world.now(), departure});
      const ActorId actor = member->roster().ranks[static_cast<std::size_t>(departure.rank)].contact.id;
      gone.insert(actor);
      const bool concerns = circle == 0 || circle_roster.rank_of(actor) != kNoRank;
      if (shrinks_until && departure.rank != member->rank() && concerns) shrink(*shrinks_until);
    }
    void on_notice(Rank from, std::span<const std::byte> bytes) override { notices.emplace_back(from, text_of(bytes)); }
    Bytes on_question(Rank from, std::span<const std::byte> bytes) override {
      const std::string answer = fmt::format("{} asks {}: {}", from, first_rank, text_of(bytes));
      const auto span = bytes_of(answer);
      return {span.begin(), span.end()};
    }
    void shrink(Deadline deadline) {
      if (is_shrinking || deadline.has_passed(crew->world.now())) return;
      is_shrinking = true;
      const auto done = [this](Result<bootstrap::Joined> result) {
        is_shrinking = false;
        Shrunk outcome{crew->world.now(), result.status(), 0, kNoRank, {}};
        if (result) {
          outcome.epoch = result->roster.epoch;
          outcome.rank = result->rank;
          for (const auto& participant : result->roster.ranks) outcome.roster.push_back(participant.contact.id);
          circle_roster = result->roster;
        }
        shrunk.push_back(std::move(outcome));
        // All are told anew of who is gone from a job; a circle finds it out by itself.
        if (circle == 0 || !result || !shrinks_until) return;
        for (const ActorId actor : shrunk.back().roster)
          if (gone.contains(actor)) return shrink(*shrinks_until);
      };
      if (circle == 0) return member->shrink(deadline, done);
      member->shrink_circle(circle, circle_roster, deadline, done);
    }
  };

  Crew(World& its_world, Rank size, bootstrap::Member::Settings settings = {}) : world(its_world) {
    bootstrap::Roster roster{.epoch = 1, .ranks = {}};
    for (Rank rank = 0; rank < size; ++rank) {
      auto& one = *ranks.emplace_back(std::make_unique<Person>());
      one.crew = this;
      one.first_rank = rank;
      one.contact = world.spawn([&](tutti::World& place, const Contact& self) {
        auto board = std::make_unique<bootstrap::Switchboard>(place, self.id);
        one.board = board.get();
        return board;
      });
      roster.ranks.push_back({one.contact, {fmt::format("node{}", rank / 8), 100 + rank}, {}});
    }
    for (auto& one : ranks) {
      auto member = std::make_unique<bootstrap::Member>(one->board->world_of(bootstrap::Part::member), *one, roster,
                                                        one->first_rank, settings);
      one->member = member.get();
      one->board->set(bootstrap::Part::member, std::move(member));
    }
  }

  Person& operator[](Rank rank) { return *ranks[static_cast<std::size_t>(rank)]; }
  ActorId id(Rank rank) { return (*this)[rank].contact.id; }
  Rank size() const { return static_cast<Rank>(ranks.size()); }
  bool lives(Rank rank) { return world.lives(id(rank)); }
  void crash(Rank rank) { world.crash(id(rank)); }
  // From now on these shrink among themselves.
  void make_circle(std::uint64_t name, const std::vector<Rank>& members) {
    bootstrap::Roster roster{.epoch = 1, .ranks = {}};
    for (const Rank rank : members) {
      roster.ranks.push_back({(*this)[rank].contact, {fmt::format("node{}", rank / 8), 100 + rank}, {}});
    }
    for (const Rank rank : members) {
      (*this)[rank].circle = name;
      (*this)[rank].circle_roster = roster;
    }
  }
  // Both ways.
  void separate(const std::vector<ActorId>& one, const std::vector<ActorId>& other) {
    world.cut(one, other);
    world.cut(other, one);
  }

  World& world;
  std::vector<std::unique_ptr<Person>> ranks;
};

}  // namespace tutti::sim
