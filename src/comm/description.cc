#include "comm/description.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"

namespace tutti::comm {

namespace {

constexpr std::uint64_t kMultiplier = 0x9ddfea08eb382d69;
constexpr unsigned kRankBits = 20;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * kMultiplier;
  return hash ^ (hash >> 29);
}

// The fields of CallKey::what.
struct What {
  std::uint8_t collective = 0;
  std::uint8_t type = 0;
  std::uint8_t op = 0;
  bool is_variable = false;
  bool is_custom = false;
  std::uint32_t root = 0;
  std::uint32_t peer = 0;

  std::uint64_t pack() const {
    return std::uint64_t{collective} | std::uint64_t{type} << 4 | std::uint64_t{op} << 8 |
           std::uint64_t{is_variable} << 12 | std::uint64_t{is_custom} << 13 | std::uint64_t{root} << 16 |
           std::uint64_t{peer} << (16 + kRankBits);
  }
  static What unpack(std::uint64_t word) {
    const auto bits = [&](unsigned at, unsigned count) {
      return static_cast<std::uint32_t>(word >> at & ((1u << count) - 1));
    };
    return {.collective = static_cast<std::uint8_t>(bits(0, 4)),
            .type = static_cast<std::uint8_t>(bits(4, 4)),
            .op = static_cast<std::uint8_t>(bits(8, 4)),
            .is_variable = bits(12, 1) != 0,
            .is_custom = bits(13, 1) != 0,
            .root = bits(16, kRankBits),
            .peer = bits(16 + kRankBits, kRankBits)};
  }
};

std::string name_of_collective(const What& what) {
  const auto collective = static_cast<plan::Collective>(what.collective);
  if (what.collective >= plan::kCollectives.size()) return "an unknown call";
  return fmt::format("{}{}", plan::name_of(collective), what.is_variable ? "_v" : "");
}

std::string name_of_operation(const What& what) {
  if (what.is_custom) return "a custom operation";
  return what.op < kOps.size() ? std::string(name_of(static_cast<Op>(what.op))) : "an unknown operation";
}

std::string name_of_type(const What& what) {
  if (what.is_custom) return "elements";
  return what.type < kDataTypes.size() ? std::string(name_of(static_cast<DataType>(what.type))) : "elements";
}

}  // namespace

std::uint64_t CallKey::hash() const { return mix(mix(mix(kMultiplier, count), what), detail); }

std::uint32_t CallKey::fingerprint() const {
  return static_cast<std::uint32_t>(hash() >> (64 - transport::Tag::kFingerprintBits));
}

CallKey key_of(const Call& call) {
  using plan::Collective;
  const bool reduces = plan::reduces(call.collective);
  What what{.collective = static_cast<std::uint8_t>(call.collective)};
  CallKey key;
  if (call.collective == Collective::barrier) return {.what = what.pack()};
  what.type = static_cast<std::uint8_t>(call.type);
  if (reduces) what.op = static_cast<std::uint8_t>(call.reduction.op);
  const bool is_pair = call.collective == Collective::send_receive;
  if (plan::has_root(call.collective)) what.root = static_cast<std::uint32_t>(call.root);
  if (is_pair) what.peer = static_cast<std::uint32_t>(call.peer);
  what.is_variable = !call.counts.empty();
  if (reduces && call.reduction.custom != nullptr) {
    what.is_custom = true;
    what.type = what.op = 0;
    key.detail = mix(kMultiplier, call.reduction.custom->element_bytes);
    for (const char c : call.reduction.custom->name) key.detail = mix(key.detail, static_cast<unsigned char>(c));
  }
  for (const std::uint64_t count : call.counts) key.detail = mix(key.detail, count);
  key.count = what.is_variable ? 0 : call.count;
  key.what = what.pack();
  return key;
}

CallKey key_of(const transport::Record& record) {
  return {.count = record.count.load(std::memory_order_relaxed),
          .what = record.what.load(std::memory_order_relaxed),
          .detail = record.detail.load(std::memory_order_relaxed)};
}

std::string describe(const CallKey& key) {
  const What what = What::unpack(key.what);
  const auto collective = static_cast<plan::Collective>(what.collective);
  std::string text = name_of_collective(what);
  if (what.collective >= plan::kCollectives.size() || collective == plan::Collective::barrier) return text;
  const bool is_pair = collective == plan::Collective::send_receive;
  if (is_pair) text = fmt::format("send from {} to {}", what.root, what.peer);
  if (!what.is_variable) text += fmt::format(" of {} {}", key.count, name_of_type(what));
  if (what.is_variable) text += fmt::format(" of {}", name_of_type(what));
  if (plan::reduces(collective)) text += fmt::format(", {}", name_of_operation(what));
  if (plan::has_root(collective) && !is_pair) text += fmt::format(", root {}", what.root);
  return text;
}

std::string describe(const Call& call) { return describe(key_of(call)); }

CallWords words_of(const CallKey& key) {
  const What what = What::unpack(key.what);
  const auto collective = static_cast<plan::Collective>(what.collective);
  CallWords words{.kind = name_of_collective(what)};
  if (what.collective >= plan::kCollectives.size() || collective == plan::Collective::barrier) return words;
  words.type = name_of_type(what);
  if (plan::reduces(collective)) words.operation = name_of_operation(what);
  if (plan::has_root(collective)) words.root = static_cast<Rank>(what.root);
  return words;
}

std::string difference(const CallKey& mine, const CallKey& theirs) {
  const What a = What::unpack(mine.what);
  const What b = What::unpack(theirs.what);
  std::vector<std::string> parts;
  const auto compare = [&](std::string_view name, const auto& x, const auto& y) {
    if (x != y) parts.push_back(fmt::format("{} {} against {}", name, x, y));
  };
  if (a.collective != b.collective || a.is_variable != b.is_variable) {
    return fmt::format("{} against {}", name_of_collective(a), name_of_collective(b));
  }
  compare("count", mine.count, theirs.count);
  compare("type", name_of_type(a), name_of_type(b));
  compare("operation", name_of_operation(a), name_of_operation(b));
  compare("root", a.root, b.root);
  if (parts.empty()) parts.emplace_back(a.is_variable ? "the counts" : "the custom operations");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tutti::comm
