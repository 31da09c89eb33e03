#include "plan/algorithms/publish.h"

#include "plan/algorithms/staging.h"

namespace tutti::plan::publish {

namespace {

// Calls each(member) for all other members, beginning with the next one: that spreads the readers over the stages.
template <class Each>
void for_others(const View& v, Each each) {
  for (Rank distance = 1; distance < v.n(); ++distance) each(v.wrap(v.me + distance));
}

// What another member has published as this block, as soon as it says so.
void fetch(Lane& lane, const View& v, Rank member, Rank published, Rank block) {
  lane.step()
      .wait(v.rank(member))
      .load(v.slice(Buffer::stage, v.rank(member), published))
      .store(v.own(Buffer::out, block));
}

// In place this touches nothing.
void keep(Lane& lane, const View& v) { lane.step().load(v.own(Buffer::in, v.me)).store(v.own(Buffer::out, v.me)); }

}  // namespace

// Its own contribution is loaded from the stage too, where it was rounded like the others': all ranks add up the same
// bits in the same order.
void all_reduce(Lane& lane, const View& v) {
  const auto rest = others(v.members, v.self());
  lane.step().load(v.own(Buffer::in, 0)).store(v.own(Buffer::stage, 0)).signal(rest);
  View all = v;
  all.source = Buffer::stage;
  all.contributors = v.members;
  auto sum = lane.step().wait(rest);
  all.load(sum, 0).finish().store(v.own(Buffer::out, 0));
}

void all_gather(Lane& lane, const View& v) {
  lane.step()
      .load(v.own(Buffer::in, v.me))
      .store(v.own(Buffer::stage, v.me))
      .store(v.own(Buffer::out, v.me))
      .signal(others(v.members, v.self()));
  for_others(v, [&](Rank member) { fetch(lane, v, member, member, member); });
}

void reduce_scatter(Lane& lane, const View& v) {
  const auto rest = others(v.members, v.self());
  publish_for_others(lane, v);
  lane.step().signal(rest);
  auto sum = lane.step().wait(rest);
  load_published(sum, v, v.me).finish().store(v.own(Buffer::out, v.me));
}

void broadcast(Lane& lane, const View& v) {
  if (v.me != v.root) {
    fetch(lane, v, v.root, 0, 0);
    return;
  }
  lane.step()
      .load(v.own(Buffer::in, 0))
      .store(v.own(Buffer::stage, 0))
      .store(v.own(Buffer::out, 0))
      .signal(others(v.members, v.self()));
}

void reduce(Lane& lane, const View& v) {
  if (v.me != v.root) {
    lane.step().load(v.own(Buffer::in, 0)).store(v.own(Buffer::stage, 0)).signal(v.rank(v.root));
    return;
  }
  auto sum = lane.step().wait(others(v.members, v.self()));
  load_published(sum, v, 0).finish().store(v.own(Buffer::out, 0));
}

void gather(Lane& lane, const View& v) {
  if (v.me != v.root) {
    lane.step().load(v.own(Buffer::in, v.me)).store(v.own(Buffer::stage, v.me)).signal(v.rank(v.root));
    return;
  }
  keep(lane, v);
  for_others(v, [&](Rank member) { fetch(lane, v, member, member, member); });
}

void scatter(Lane& lane, const View& v) {
  if (v.me != v.root) {
    fetch(lane, v, v.root, v.me, v.me);
    return;
  }
  publish_for_others(lane, v);
  lane.step().signal(others(v.members, v.self()));
  keep(lane, v);
}

// Right in place too: what an output overwrites has been published before.
void all_to_all(Lane& lane, const View& v) {
  publish_for_others(lane, v);
  lane.step().signal(others(v.members, v.self()));
  keep(lane, v);
  for_others(v, [&](Rank member) { fetch(lane, v, member, v.me, member); });
}

void send_receive(Lane& lane, const View& v, Rank from, Rank to) {
  if (v.self() == from) {
    lane.step().load(v.own(Buffer::in, 0)).store(v.own(Buffer::stage, 0)).signal(to);
  } else if (v.self() == to) {
    lane.step().wait(from).load(v.slice(Buffer::stage, from, 0)).store(v.own(Buffer::out, 0));
  }
}

}  // namespace tutti::plan::publish
