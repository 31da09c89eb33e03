// Reads the text form of a plan. Every limit below is there so that a hostile file cannot make us allocate without
// bound.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "tutti/plan.h"

namespace tutti::plan {

namespace {

constexpr Rank kRanksMax = 1 << 20;
constexpr std::uint32_t kLanesMax = 4096;
constexpr std::uint32_t kSlotsMax = 1 << 16;
constexpr std::uint32_t kChunksMax = 1u << 30;
constexpr std::size_t kListMax = 65535;

class Parser {
 public:
  Result<Plan> parse(std::string_view text);

 private:
  Status parse_header(std::string_view line);
  Status parse_attribute(std::string_view word);
  Status parse_reach(std::string_view value);
  Status parse_lane(std::string_view line);
  Status parse_step(std::string_view line);
  Status parse_value(std::string_view clause, StepWriter& step);
  Status parse_targets(std::string_view part, StepWriter& step);
  Result<Slice> parse_slice(std::string_view text) const;
  Result<Rank> parse_rank(std::string_view text) const;
  Result<std::vector<Rank>> parse_ranks(std::string_view text) const;
  Result<std::vector<Point>> parse_points(std::string_view text) const;
  Status fault(std::string text) const { return invalid_argument(fmt::format("line {}: {}", line_number_, text)); }

  Plan plan_;
  Lane* lane_ = nullptr;
  Rank rank_ = kNoRank;
  std::size_t line_number_ = 0;
};

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

Result<Plan> Parser::parse(std::string_view text) {
  bool has_header = false;
  for (std::string_view line : text::split(text, '\n')) {
    ++line_number_;
    line = text::trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (!has_header) {
      TUTTI_TRY(parse_header(line));
      has_header = true;
    } else if (line.starts_with("rank ")) {
      TUTTI_TRY(parse_lane(line));
    } else {
      TUTTI_TRY(parse_step(line));
    }
  }
  if (!has_header) return invalid_argument("the text holds no plan; it starts with 'plan NAME COLLECTIVE ranks=N ...'");
  return std::move(plan_);
}

Status Parser::parse_header(std::string_view line) {
  const auto words = text::words(line);
  if (words.size() < 3 || words[0] != "plan") {
    return fault(fmt::format("'{}' is not a header; expected 'plan NAME COLLECTIVE ranks=N chunks=N slots=N'", line));
  }
  plan_.algorithm = words[1];
  const auto collective = collective_of(words[2]);
  if (!collective) {
    std::vector<std::string> known;
    for (const Collective c : kCollectives) known.emplace_back(name_of(c));
    return fault(fmt::format("'{}' is not a collective{}", words[2], text::suggestion(words[2], known)));
  }
  plan_.collective = *collective;
  for (std::size_t i = 3; i < words.size(); ++i) TUTTI_TRY(parse_attribute(words[i]));
  if (plan_.ranks < 1) return fault("ranks=N is missing; N is at least 1");
  for (const auto& [name, rank] : {std::pair{"root", plan_.root}, std::pair{"peer", plan_.peer}}) {
    if (rank >= plan_.ranks) return fault(fmt::format("{}={} is not a rank from 0 to {}", name, rank, plan_.ranks - 1));
  }
  plan_.programs.resize(static_cast<std::size_t>(plan_.ranks));
  return {};
}

Status Parser::parse_attribute(std::string_view word) {
  const std::size_t equal = word.find('=');
  const std::string_view name = word.substr(0, equal);
  const std::string_view value = equal == std::string_view::npos ? "" : word.substr(equal + 1);
  if (name == "reach") return parse_reach(value);
  const auto number = text::integer_of<std::uint32_t>(value);
  if (!number) return fault(fmt::format("'{}' has no number; expected {}=N", word, name));
  const auto within = [&](std::uint32_t limit) {
    return *number <= limit ? Status() : fault(fmt::format("{}={} is above the limit of {}", name, *number, limit));
  };
  if (name == "ranks") {
    plan_.ranks = static_cast<Rank>(*number);
    return within(kRanksMax);
  }
  if (name == "root" || name == "peer") {
    (name == "root" ? plan_.root : plan_.peer) = static_cast<Rank>(*number);
    return within(kRanksMax);
  }
  if (name == "chunks") {
    plan_.chunks = *number;
    return within(kChunksMax);
  }
  if (name == "slots") {
    plan_.slots = *number;
    return within(kSlotsMax);
  }
  static const std::vector<std::string> kKnown = {"ranks", "chunks", "slots", "root", "peer", "reach"};
  return fault(fmt::format("'{}' is not an attribute of a plan{}", name, text::suggestion(name, kKnown)));
}

// Groups of ranks, such as 0-3|4-7, after the level where it is less than full: stage:0-3|4-7.
Status Parser::parse_reach(std::string_view value) {
  constexpr std::uint32_t kNone = ~0u;
  if (plan_.ranks < 1) return fault("reach= stands before ranks=; write ranks=N first");
  const std::size_t colon = value.find(':');
  const auto reach = colon == std::string_view::npos ? Reach::full : reach_of(value.substr(0, colon));
  if (!reach || *reach == Reach::none) {
    return fault(fmt::format("reach={}: '{}' is not stage, load or full", value, value.substr(0, colon)));
  }
  plan_.reach = *reach;
  plan_.domain_of.assign(static_cast<std::size_t>(plan_.ranks), kNone);
  std::uint32_t domain = 0;
  const std::string_view groups = colon == std::string_view::npos ? value : value.substr(colon + 1);
  for (const std::string_view group : text::split(groups, '|')) {
    const auto ranks = text::list_of(group, plan_.ranks - 1);
    if (!ranks) {
      return fault(
          fmt::format("reach={}: '{}' is not a list of ranks below {}, such as 0-3,6", value, group, plan_.ranks));
    }
    for (const Rank rank : *ranks) {
      std::uint32_t& slot = plan_.domain_of[static_cast<std::size_t>(rank)];
      if (slot != kNone) return fault(fmt::format("reach={}: rank {} stands in two groups", value, rank));
      slot = domain;
    }
    ++domain;
  }
  for (std::size_t rank = 0; rank < plan_.domain_of.size(); ++rank) {
    if (plan_.domain_of[rank] == kNone) return fault(fmt::format("reach={}: rank {} is in no group", value, rank));
  }
  return {};
}

Status Parser::parse_lane(std::string_view line) {
  const auto words = text::words(line);
  const auto lane = words.size() == 4 ? text::integer_of<std::uint32_t>(words[3]) : std::nullopt;
  if (!lane || words[2] != "lane")
    return fault(fmt::format("'{}' does not begin a lane; expected 'rank N lane N'", line));
  TUTTI_ASSIGN(rank_, parse_rank(words[1]));
  auto& lanes = plan_.programs[static_cast<std::size_t>(rank_)].lanes;
  if (*lane >= kLanesMax) return fault(fmt::format("lane {} is above the limit of {}", *lane, kLanesMax - 1));
  if (*lane != lanes.size()) {
    return fault(fmt::format("lane {} of rank {} stands where lane {} is expected", *lane, rank_, lanes.size()));
  }
  lane_ = &lanes.emplace_back();
  return {};
}

Status Parser::parse_step(std::string_view line) {
  if (lane_ == nullptr) return fault(fmt::format("'{}' stands before the first 'rank N lane N'", line));
  const std::size_t blank = std::min(line.find(' '), line.size());
  const auto number = text::integer_of<std::size_t>(line.substr(0, blank));
  if (number != lane_->size()) {
    return fault(
        fmt::format("'{}' is not the number of the next step, which is {}", line.substr(0, blank), lane_->size()));
  }
  StepWriter step = lane_->step();
  // Clauses come in the order of the step rule.
  int stage = 0;
  const auto enter = [&](int wanted) { return stage < wanted ? (stage = wanted, true) : false; };
  for (std::string_view clause : text::split(line.substr(blank), ';')) {
    clause = text::trim(clause);
    if (clause.empty() && blank == line.size()) break;  // a step that does nothing
    bool in_order = false;
    if (take(clause, "after ")) {
      in_order = enter(1);
      TUTTI_ASSIGN(const auto points, parse_points(clause));
      if (in_order) step.after(points);
    } else if (take(clause, "token <-")) {
      in_order = enter(2);
      TUTTI_ASSIGN(const auto ranks, parse_ranks(clause));
      if (in_order) step.wait(ranks);
    } else if (take(clause, "token ->")) {
      in_order = enter(4);
      TUTTI_ASSIGN(const auto ranks, parse_ranks(clause));
      if (in_order) step.signal(ranks);
    } else {
      in_order = enter(3);
      if (in_order) TUTTI_TRY(parse_value(clause, step));
    }
    if (!in_order) return fault("clauses come once each and in this order: after; token <-; value; token ->");
  }
  return {};
}

Status Parser::parse_value(std::string_view clause, StepWriter& step) {
  const std::size_t arrow = clause.find("->");
  std::string_view value = text::trim(clause.substr(0, arrow));
  bool finish = false;
  if (value.ends_with(" finish")) {
    finish = true;
    value = text::trim(value.substr(0, value.size() - 7));
  }
  const auto terms = text::split(value, '+');
  if (terms.size() > kListMax) return fault(fmt::format("{} sources are more than {}", terms.size(), kListMax));
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::string_view term = text::trim(terms[i]);
    if (take(term, "recv ")) {
      if (i != 0) return fault("'recv' is the first term of a value");
      TUTTI_ASSIGN(const Rank peer, parse_rank(text::trim(term)));
      step.receive(peer);
    } else {
      TUTTI_ASSIGN(const Slice source, parse_slice(term));
      step.load(source);
    }
  }
  step.finish(finish);
  if (arrow == std::string_view::npos) return {};
  std::string_view rest = clause.substr(arrow + 2);
  const std::size_t second = rest.find("->");
  if (second != std::string_view::npos && text::trim(rest).starts_with("send ")) {
    return fault("'send RANK' comes last, once");
  }
  if (second != std::string_view::npos && !text::trim(rest.substr(second + 2)).starts_with("send ")) {
    return fault(fmt::format("'{}' stands where 'send RANK' is expected", text::trim(rest.substr(second + 2))));
  }
  TUTTI_TRY(parse_targets(text::trim(rest.substr(0, second)), step));
  if (second == std::string_view::npos) return {};
  return parse_targets(text::trim(rest.substr(second + 2)), step);
}

// Slices to store to, or "send RANK".
Status Parser::parse_targets(std::string_view part, StepWriter& step) {
  if (take(part, "send ")) {
    TUTTI_ASSIGN(const Rank peer, parse_rank(text::trim(part)));
    step.send(peer);
    return {};
  }
  const auto words = text::words(part);
  if (words.empty() || words.size() > kListMax) return fault("'->' is followed by targets or by 'send RANK'");
  for (const std::string_view word : words) {
    TUTTI_ASSIGN(const Slice target, parse_slice(word));
    step.store(target);
  }
  return {};
}

Result<Slice> Parser::parse_slice(std::string_view text) const {
  const auto bad = [&] {
    return fault(
        fmt::format("'{}' is not a slice such as in[3], 2:out[0], 1:stage[2], scratch[0:8] or in[1:9:4]", text));
  };
  Slice slice{.owner = rank_};
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos || !text.ends_with(']')) return bad();
  std::string_view name = text.substr(0, open);
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    TUTTI_ASSIGN(slice.owner, parse_rank(name.substr(0, colon)));
    name.remove_prefix(colon + 1);
  }
  const auto buffer = std::find_if(kBuffers.begin(), kBuffers.end(), [&](Buffer b) { return name == name_of(b); });
  if (buffer == kBuffers.end()) return bad();
  slice.buffer = *buffer;

  const auto parts = text::split(text.substr(open + 1, text.size() - open - 2), ':');
  std::array<std::uint32_t, 3> numbers = {0, 0, 1};
  if (parts.size() > 3) return bad();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = text::integer_of<std::uint32_t>(parts[i]);
    if (!number || *number > kChunksMax) return bad();
    numbers[i] = *number;
  }
  const auto [begin, end, stride] = numbers;
  slice.chunk = begin;
  if (parts.size() == 1) return slice;
  if (end < begin || stride == 0 || stride > kListMax || (end - begin) % stride != 0) return bad();
  slice.count = (end - begin) / stride;
  slice.stride = static_cast<std::uint16_t>(stride);
  return slice;
}

Result<Rank> Parser::parse_rank(std::string_view text) const {
  const auto rank = text::integer_of<Rank>(text);
  if (!rank || *rank < 0 || *rank >= plan_.ranks) {
    return fault(fmt::format("'{}' is not a rank from 0 to {}", text, plan_.ranks - 1));
  }
  return *rank;
}

Result<std::vector<Rank>> Parser::parse_ranks(std::string_view text) const {
  std::vector<Rank> ranks;
  for (const std::string_view word : text::words(text)) {
    TUTTI_ASSIGN(const Rank rank, parse_rank(word));
    ranks.push_back(rank);
  }
  if (ranks.empty() || ranks.size() > kListMax) return fault("a token needs the ranks it goes to or comes from");
  return ranks;
}

Result<std::vector<Point>> Parser::parse_points(std::string_view text) const {
  std::vector<Point> points;
  for (const std::string_view word : text::words(text)) {
    const std::size_t dot = word.find('.');
    const auto lane = text::integer_of<std::uint32_t>(word.substr(0, dot));
    const auto step =
        dot == std::string_view::npos ? std::nullopt : text::integer_of<std::uint32_t>(word.substr(dot + 1));
    if (!lane || !step) return fault(fmt::format("'{}' is not a step of a lane such as 1.3", word));
    points.push_back({*lane, *step});
  }
  if (points.empty() || points.size() > kListMax) return fault("'after' needs steps such as 1.3");
  return points;
}

}  // namespace

Result<Plan> parse(std::string_view text) { return Parser().parse(text); }

}  // namespace tutti::plan
