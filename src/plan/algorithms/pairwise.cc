#include "plan/algorithms/pairwise.h"

namespace tutti::plan::pairwise {

namespace {

// In round r the members whose positions add up to r are partners, so both ends of an exchange meet in the same round
// and what a member gives leaves its place before what it gets arrives there. Each sits out one round.
template <class Each>
void for_partners(const View& v, Each each) {
  for (Rank round = 0; round < v.n(); ++round) {
    const Rank partner = v.wrap(round - v.me);
    if (partner != v.me) each(partner);
  }
}

}  // namespace

// Every member adds up in the order of members, and its own input as the others get it (scaled and rounded), so that
// all hold the same bits. Its own waits in its output meanwhile.
void all_reduce(Lane& lane, const View& v) {
  auto first = lane.step();
  v.load(first, 0).store(v.own(v.target, 0));
  for_partners(v, [&](Rank partner) { lane.step().load(v.own(v.target, 0)).send(v.rank(partner)); });
  for (Rank member = 0; member < v.n(); ++member) {
    const bool is_last = member == v.n() - 1;
    auto step = lane.step();
    if (member != v.me) step.receive(v.rank(member));
    if (member > 0) step.load(v.own(Buffer::scratch, 0));
    if (member == v.me) step.load(v.own(v.target, 0));
    step.finish(is_last);
    is_last ? v.deliver(step, 0) : step.store(v.own(Buffer::scratch, 0));
  }
}

void all_to_all(Lane& lane, const View& v) {
  lane.step().load(v.own(Buffer::in, v.me)).store(v.own(Buffer::out, v.me));
  for_partners(v, [&](Rank partner) {
    lane.step().load(v.own(Buffer::in, partner)).send(v.rank(partner));
    lane.step().receive(v.rank(partner)).store(v.own(Buffer::out, partner));
  });
}

// Everything is on its way before anything is stored, so it is right in place; a pipe holds one message of a tile.
void all_to_all_at_once(Lane& lane, const View& v) {
  for (Rank distance = 1; distance < v.n(); ++distance) {
    const Rank to = v.wrap(v.me + distance);
    lane.step().load(v.own(Buffer::in, to)).send(v.rank(to));
  }
  lane.step().load(v.own(Buffer::in, v.me)).store(v.own(Buffer::out, v.me));
  for (Rank distance = 1; distance < v.n(); ++distance) {
    const Rank from = v.wrap(v.me - distance);
    lane.step().receive(v.rank(from)).store(v.own(Buffer::out, from));
  }
}

void all_gather(Lane& lane, const View& v) {
  lane.step().load(v.own(Buffer::in, v.me)).store(v.own(Buffer::out, v.me));
  for_partners(v, [&](Rank partner) {
    lane.step().load(v.own(Buffer::in, v.me)).send(v.rank(partner));
    lane.step().receive(v.rank(partner)).store(v.own(Buffer::out, partner));
  });
}

void reduce_scatter(Lane& lane, const View& v) {
  Rank rounds = 0;
  for_partners(v, [&](Rank partner) {
    const bool is_first = rounds++ == 0;
    lane.step().load(v.own(Buffer::in, partner)).send(v.rank(partner));
    lane.step()
        .receive(v.rank(partner))
        .load(v.own(is_first ? Buffer::in : Buffer::out, v.me))
        .finish(rounds == v.n() - 1)
        .store(v.own(Buffer::out, v.me));
  });
}

void gather(Lane& lane, const View& v) {
  if (v.me != v.root) {
    lane.step().load(v.own(Buffer::in, v.me)).send(v.rank(v.root));
    return;
  }
  lane.step().load(v.own(Buffer::in, v.me)).store(v.own(Buffer::out, v.me));
  for (Rank distance = 1; distance < v.n(); ++distance) {
    const Rank from = v.wrap(v.me + distance);
    lane.step().receive(v.rank(from)).store(v.own(Buffer::out, from));
  }
}

void scatter(Lane& lane, const View& v) {
  if (v.me != v.root) {
    lane.step().receive(v.rank(v.root)).store(v.own(Buffer::out, v.me));
    return;
  }
  for (Rank distance = 1; distance < v.n(); ++distance) {
    const Rank to = v.wrap(v.me + distance);
    lane.step().load(v.own(Buffer::in, to)).send(v.rank(to));
  }
  lane.step().load(v.own(Buffer::in, v.me)).store(v.own(Buffer::out, v.me));
}

void send_receive(Lane& lane, const View& v, Rank from, Rank to) {
  if (from == to) {
    if (v.self() == from) lane.step().load(v.own(Buffer::in, 0)).store(v.own(Buffer::out, 0));
    return;
  }
  if (v.self() == from) lane.step().load(v.own(Buffer::in, 0)).send(to);
  if (v.self() == to) lane.step().receive(from).store(v.own(Buffer::out, 0));
}

}  // namespace tutti::plan::pairwise
