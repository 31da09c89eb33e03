#include "nccl/algorithm_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <string>

#include "base/text.h"

namespace tutti::nccl {

namespace {

using plan::Collective;

struct Function {
  std::string_view name;
  Collective collective;
};
// Those whose algorithm NCCL chooses; in its order.
constexpr std::array kFunctions = {Function{"Broadcast", Collective::broadcast}, Function{"Reduce", Collective::reduce},
                                   Function{"AllGather", Collective::all_gather},
                                   Function{"ReduceScatter", Collective::reduce_scatter},
                                   Function{"AllReduce", Collective::all_reduce}};

constexpr std::array<std::string_view, 7> kAlgorithms = {"Tree",     "Ring", "CollnetDirect", "CollnetChain", "NVLS",
                                                         "NVLSTree", "PAT"};
constexpr std::array<std::string_view, 3> kProtocols = {"LL", "LL128", "Simple"};

// One of ours and the name that NCCL has for such.
struct Kinship {
  std::string_view ours;
  std::string_view theirs;
};
constexpr std::array kKinships = {
    Kinship{"ring", "Ring"},
    Kinship{"chain", "Ring"},
    Kinship{"hierarchical_ring", "Ring"},
    Kinship{"hierarchical_chain", "Ring"},
    Kinship{"tree", "Tree"},
    Kinship{"hierarchical_tree", "Tree"},
    Kinship{"leader_tree", "Tree"},
    Kinship{"bruck", "PAT"},
    Kinship{"halving", "PAT"},
    Kinship{"hierarchical_halving", "PAT"},
};

using Names = std::span<const std::string_view>;

bool is_same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

struct List {
  bool is_inverted = false;  // all but the names
  std::vector<std::string_view> names;

  bool contains(std::string_view name) const { return std::ranges::find(names, name) != names.end(); }
};
using Lists = std::array<std::optional<List>, kFunctions.size()>;  // nullopt: anything

Result<List> parse_names(std::string_view text, Names known) {
  text = text::trim(text);
  List list;
  list.is_inverted = text.starts_with('^');
  if (list.is_inverted) text.remove_prefix(1);
  for (const std::string_view part : text::split(text, ',')) {
    const std::string_view name = text::trim(part);
    const auto found = std::ranges::find_if(known, [&](std::string_view each) { return is_same_word(each, name); });
    if (found == known.end()) {
      return invalid_argument(fmt::format("'{}' is not known; it takes {}, with ^ in front of all for all but these",
                                          name, fmt::join(known, ", ")));
    }
    list.names.push_back(*found);
  }
  return list;
}

Result<Lists> parse_lists(std::string_view text, Names known) {
  Lists lists;
  bool is_first = true;
  for (const std::string_view part : text::split(text, ';')) {
    const std::size_t colon = part.find(':');
    const bool is_for_all = colon == std::string_view::npos;
    if (is_for_all && !is_first) {
      return invalid_argument(fmt::format(
          "'{}' names no collective; only the first list may be for all, as in ring;allreduce:tree", text::trim(part)));
    }
    is_first = false;
    TUTTI_ASSIGN(const List list, parse_names(is_for_all ? part : part.substr(colon + 1), known));
    bool is_known = is_for_all;
    for (std::size_t index = 0; index < kFunctions.size(); ++index) {
      if (!is_for_all && !is_same_word(kFunctions[index].name, text::trim(part.substr(0, colon)))) continue;
      lists[index] = list;
      is_known = true;
    }
    if (!is_known) {
      std::vector<std::string_view> names;
      for (const Function& function : kFunctions) names.push_back(function.name);
      return invalid_argument(fmt::format("'{}' is no collective that it is for; those are {}",
                                          text::trim(part.substr(0, colon)), fmt::join(names, ", ")));
    }
  }
  return lists;
}

bool is_wanted(const List& list, std::string_view ours) {
  const auto kinship = std::ranges::find(kKinships, ours, &Kinship::ours);
  if (kinship == kKinships.end()) return list.is_inverted;  // nobody can have meant it
  return list.contains(kinship->theirs) != list.is_inverted;
}

}  // namespace

Result<std::vector<AllowedAlgorithms>> parse_algorithms(std::string_view text) {
  TUTTI_ASSIGN(const Lists lists, parse_lists(text, kAlgorithms));
  std::vector<AllowedAlgorithms> all;
  for (std::size_t index = 0; index < lists.size(); ++index) {
    if (!lists[index]) continue;
    AllowedAlgorithms allowed{.collective = kFunctions[index].collective};
    bool is_restricted = false;
    for (const plan::Algorithm& algorithm : plan::algorithms()) {
      if (algorithm.collective != allowed.collective) continue;
      if (is_wanted(*lists[index], algorithm.name)) {
        allowed.names.emplace_back(algorithm.name);
      } else {
        is_restricted = true;
      }
    }
    if (is_restricted) all.push_back(std::move(allowed));
  }
  return all;
}

Status validate_protocols(std::string_view text) { return parse_lists(text, kProtocols).status(); }

}  // namespace tutti::nccl
