#include "plan/algorithms/direct.h"

namespace tutti::plan::direct {

namespace {

// One step of work between two meetings: nobody's memory is touched before it has come or after it may have gone.
template <class Work>
void between_meetings(Lane& lane, const View& v, Work work) {
  meet(lane, v.members, v.me);
  work();
  meet(lane, v.members, v.me);
}

// The same for work that only ever touches the root's memory from outside: tokens go to and from the root alone.
template <class Work>
void while_root_waits(Lane& lane, const View& v, Work work) {
  const Rank root = v.rank(v.root);
  const auto rest = others(v.members, root);
  if (v.me == v.root) {
    lane.step().signal(rest);
    work();
    lane.step().wait(rest);
  } else {
    lane.step().wait(root);
    work();
    lane.step().signal(root);
  }
}

View with_all_contributors(View v) {
  v.contributors = v.members;
  return v;
}

}  // namespace

void all_reduce(Lane& lane, const View& v) {
  between_meetings(lane, v, [&] {
    View all = with_all_contributors(v);
    all.mirrors = v.members;
    auto step = lane.step();
    all.load(step, v.me).finish();
    all.deliver(step, v.me);
  });
}

void all_gather(Lane& lane, const View& v) {
  between_meetings(lane, v, [&] {
    View all = v;
    all.mirrors = v.members;
    auto step = lane.step().load(v.own(Buffer::in, v.me));
    all.deliver(step, v.me);
  });
}

void reduce_scatter(Lane& lane, const View& v) {
  between_meetings(lane, v, [&] {
    auto step = lane.step();
    with_all_contributors(v).load(step, v.me).finish().store(v.own(Buffer::out, v.me));
  });
}

void broadcast(Lane& lane, const View& v) {
  while_root_waits(lane, v,
                   [&] { lane.step().load(v.slice(Buffer::in, v.rank(v.root), 0)).store(v.own(Buffer::out, 0)); });
}

void reduce(Lane& lane, const View& v) {
  between_meetings(lane, v, [&] {
    auto step = lane.step();
    with_all_contributors(v).load(step, v.me).finish().store(v.slice(Buffer::out, v.rank(v.root), v.me));
  });
}

void gather(Lane& lane, const View& v) {
  while_root_waits(
      lane, v, [&] { lane.step().load(v.own(Buffer::in, v.me)).store(v.slice(Buffer::out, v.rank(v.root), v.me)); });
}

void scatter(Lane& lane, const View& v) {
  while_root_waits(
      lane, v, [&] { lane.step().load(v.slice(Buffer::in, v.rank(v.root), v.me)).store(v.own(Buffer::out, v.me)); });
}

// Starting with the next member spreads the writers over the readers.
void all_to_all(Lane& lane, const View& v) {
  between_meetings(lane, v, [&] {
    for (Rank distance = 0; distance < v.n(); ++distance) {
      const Rank to = v.wrap(v.me + distance);
      lane.step().load(v.own(Buffer::in, to)).store(v.slice(Buffer::out, v.rank(to), v.me));
    }
  });
}

void barrier(Lane& lane, const View& v) {
  const auto rest = others(v.members, v.self());
  lane.step().signal(rest);
  lane.step().wait(rest);
}

void send_receive(Lane& lane, const View& v, Rank from, Rank to) {
  if (v.self() == from) {
    lane.step().signal(to);
    lane.step().wait(to);
  } else if (v.self() == to) {
    lane.step().wait(from);
    lane.step().load(v.slice(Buffer::in, from, 0)).store(v.own(Buffer::out, 0));
    lane.step().signal(from);
  }
}

}  // namespace tutti::plan::direct
