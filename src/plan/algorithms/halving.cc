#include "plan/algorithms/halving.h"

#include <bit>

namespace tutti::plan::halving {

std::uint32_t participants(Rank n) { return std::bit_floor(static_cast<std::uint32_t>(n)); }

namespace {

// Members 2q and 2q + 1 stand as one participant q while q < extra; every later member stands for itself.
struct Folding {
  Rank n;
  Rank count;  // participants, a power of two
  Rank extra;  // members beyond them

  explicit Folding(Rank members)
      : n(members), count(static_cast<Rank>(participants(members))), extra(members - count) {}

  bool is_folded_away(Rank member) const { return member < 2 * extra && member % 2 == 1; }
  bool stands_for_two(Rank q) const { return q < extra; }
  Rank participant_of(Rank member) const { return member < 2 * extra ? member / 2 : member - extra; }
  Rank member_of(Rank q) const { return q < extra ? 2 * q : q + extra; }
};

struct Range {
  Rank first;
  Rank count;
};

// Participants [low, high) as blocks: one block each in all_reduce, one block per member where blocks belong to ranks.
struct Blocks {
  const Folding& fold;
  bool per_member;
  Range of(Rank low, Rank high) const {
    const auto begin = [&](Rank q) { return !per_member ? q : q == fold.count ? fold.n : fold.member_of(q); };
    return {begin(low), begin(high) - begin(low)};
  }
  Range all() const { return of(0, fold.count); }
};

// Each round gives away the half that the partner keeps. The first round reads the contributions, later ones (and the
// first, when `folded`) the sums so far. Leaves the complete sum of this participant's blocks for `last`.
template <class Last>
void halve(Lane& lane, const View& v, const Blocks& blocks, Buffer sums, bool folded, Last last) {
  const Folding& fold = blocks.fold;
  const Rank q = fold.participant_of(v.me);
  bool reads_sums = folded;
  for (Rank half = fold.count / 2; half >= 1; half /= 2) {
    const Rank low = q / (2 * half) * (2 * half);
    const bool upper = (q & half) != 0;
    const Range keep = upper ? blocks.of(low + half, low + 2 * half) : blocks.of(low, low + half);
    const Range give = upper ? blocks.of(low, low + half) : blocks.of(low + half, low + 2 * half);
    const Rank partner = v.rank(fold.member_of(q ^ half));
    const auto load = [&](StepWriter& step, Range range) -> StepWriter& {
      return reads_sums ? step.load(v.own(sums, range.first, range.count)) : v.load(step, range.first, range.count);
    };
    auto away = lane.step();
    load(away, give).send(partner);
    auto kept = lane.step().receive(partner);
    load(kept, keep);
    if (half == 1) {
      kept.finish();
      last(kept, keep);
    } else {
      kept.store(v.own(sums, keep.first, keep.count));
    }
    reads_sums = true;
  }
}

// Each round doubles what this participant holds in its target buffer.
void double_up(Lane& lane, const View& v, const Blocks& blocks) {
  const Folding& fold = blocks.fold;
  const Rank q = fold.participant_of(v.me);
  for (Rank held = 1; held < fold.count; held *= 2) {
    const Rank mine = q / held * held;
    const Rank theirs = mine ^ held;
    const Range have = blocks.of(mine, mine + held);
    const Range get = blocks.of(theirs, theirs + held);
    const Rank partner = v.rank(fold.member_of(q ^ held));
    lane.step().load(v.own(v.target, have.first, have.count)).send(partner);
    auto step = lane.step().receive(partner);
    v.deliver(step, get.first, get.count);
  }
}

// What a member that is folded away does: hands in everything, gets everything.
void hand_in(Lane& lane, const View& v, Range all) {
  auto step = lane.step();
  v.load(step, all.first, all.count).send(v.previous());
}
void get_back(Lane& lane, const View& v, Range all) {
  auto step = lane.step().receive(v.previous());
  v.deliver(step, all.first, all.count);
}
void take_in(Lane& lane, const View& v, Range all, Buffer sums) {
  auto step = lane.step().receive(v.next());
  v.load(step, all.first, all.count).store(v.own(sums, all.first, all.count));
}
void give_back(Lane& lane, const View& v, Range all) {
  lane.step().load(v.own(v.target, all.first, all.count)).send(v.next());
}

}  // namespace

void all_reduce(Lane& lane, const View& v) {
  const Folding fold(v.n());
  const Blocks blocks{fold, false};
  if (fold.is_folded_away(v.me)) {
    hand_in(lane, v, blocks.all());
    get_back(lane, v, blocks.all());
    return;
  }
  const bool two = fold.stands_for_two(fold.participant_of(v.me));
  if (two) take_in(lane, v, blocks.all(), v.target);
  halve(lane, v, blocks, v.target, two, [&](StepWriter& step, Range own) { v.deliver(step, own.first, own.count); });
  double_up(lane, v, blocks);
  if (two) give_back(lane, v, blocks.all());
}

void reduce_scatter(Lane& lane, const View& v) {
  const Folding fold(v.n());
  const Blocks blocks{fold, true};
  if (fold.is_folded_away(v.me)) {
    hand_in(lane, v, blocks.all());
    get_back(lane, v, {v.me, 1});
    return;
  }
  const bool two = fold.stands_for_two(fold.participant_of(v.me));
  if (two) take_in(lane, v, blocks.all(), Buffer::scratch);
  halve(lane, v, blocks, Buffer::scratch, two, [&](StepWriter& step, Range own) {
    two ? step.store(v.own(Buffer::scratch, own.first, own.count)) : v.deliver(step, own.first);
  });
  if (!two) return;
  auto mine = lane.step().load(v.own(Buffer::scratch, v.me));
  v.deliver(mine, v.me);
  lane.step().load(v.own(Buffer::scratch, v.me + 1)).send(v.next());
}

void all_gather(Lane& lane, const View& v) {
  const Folding fold(v.n());
  const Blocks blocks{fold, true};
  if (fold.is_folded_away(v.me)) {
    hand_in(lane, v, {v.me, 1});
    get_back(lane, v, blocks.all());
    return;
  }
  auto first = lane.step();
  v.load(first, v.me);
  v.deliver(first, v.me);
  const bool two = fold.stands_for_two(fold.participant_of(v.me));
  if (two) {
    auto step = lane.step().receive(v.next());
    v.deliver(step, v.me + 1);
  }
  double_up(lane, v, blocks);
  if (two) give_back(lane, v, blocks.all());
}

}  // namespace tutti::plan::halving
