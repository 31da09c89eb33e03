#include "launch/host_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "bootstrap/env/hostlist.h"

namespace tutti::launch {
namespace {

constexpr std::size_t kShownMax = 80;

// What a message may show of a text that anybody may have written.
std::string shown(std::string_view text) {
  std::string part(text.substr(0, kShownMax));
  std::ranges::replace_if(
      part, [](unsigned char letter) { return letter < ' ' || letter >= 0x7f; }, '?');
  return part + (text.size() > kShownMax ? "..." : "");
}

bool is_plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '-' || letter == '_' || letter == '.';
}

Status no_name(std::string_view name, std::string_view why) {
  return invalid_argument(fmt::format("'{}' is no name of a host: {}", shown(name), why));
}

}  // namespace

Status check_host_name(std::string_view name) {
  if (name.size() > kHostNameBytesMax) {
    return no_name(name, fmt::format("it has {} letters, and {} are the most", name.size(), kHostNameBytesMax));
  }
  const auto at = name.find('@');
  const std::string_view user = at == std::string_view::npos ? std::string_view("user") : name.substr(0, at);
  const std::string_view host = at == std::string_view::npos ? name : name.substr(at + 1);
  if (user.empty() || host.empty()) return no_name(name, "a part of it is empty; write host or user@host");
  if (user.starts_with('-') || host.starts_with('-')) {
    return no_name(name, "names do not begin with '-'; options for ssh are given with --ssh-option");
  }
  const auto of_user = [](char letter) { return is_plain(letter) || letter == '+'; };
  const auto of_host = [](char letter) { return is_plain(letter) || letter == ':' || letter == '%'; };
  if (!std::ranges::all_of(user, of_user) || !std::ranges::all_of(host, of_host)) {
    return no_name(name, "names have letters, digits, '-', '_' and '.' only");
  }
  return {};
}

Status HostTable::add_one(std::string name, int slots, int slots_max) {
  TUTTI_TRY(check_host_name(name));
  const auto [found, is_new] = places_.try_emplace(std::move(name), hosts_.size());
  if (is_new) {
    if (hosts_.size() == kHostsMax) return invalid_argument(fmt::format("there are more than {} hosts", kHostsMax));
    hosts_.push_back({.name = found->first, .slots = 0});
  }
  Host& host = hosts_[found->second];
  host.slots_max = std::max(host.slots_max, slots_max);
  if (slots > kSlotsMax - host.slots) {
    return invalid_argument(fmt::format("host {} has more than {} slots in all", host.name, kSlotsMax));
  }
  host.slots += slots;
  if (host.slots_max == 0 || host.slots <= host.slots_max) return {};
  return invalid_argument(fmt::format("host {} has {} slots, but max_slots={}; lower the first or raise the second",
                                      host.name, host.slots, host.slots_max));
}

Status HostTable::add(std::string_view names, int slots, int slots_max) {
  if (names.find_first_of("[]") == std::string_view::npos) return add_one(std::string(names), slots, slots_max);
  const auto at = names.find('@');
  const std::string user(at == std::string_view::npos ? std::string_view() : names.substr(0, at + 1));
  TUTTI_ASSIGN(auto all, bootstrap::hosts_of(names.substr(user.size())));
  for (std::string& name : all) TUTTI_TRY(add_one(user + name, slots, slots_max));
  return {};
}

Result<int> slots_of(std::string_view text) {
  const auto slots = text::integer_of<int>(text);
  if (slots && *slots >= 1 && *slots <= kSlotsMax) return *slots;
  return invalid_argument(
      fmt::format("'{}' is no number of slots; it is a number from 1 to {}", shown(text), kSlotsMax));
}

Result<HostWord> host_word_of(std::string_view word) {
  const auto at = word.find('@');
  const std::size_t begin = at == std::string_view::npos ? 0 : at + 1;
  const auto close = word.find(']', begin);
  const bool is_bracketed = begin < word.size() && word[begin] == '[' && close != std::string_view::npos;
  const bool is_ipv6 = is_bracketed && word.substr(begin, close - begin).find(':') != std::string_view::npos;
  const std::size_t search = is_ipv6 ? close : std::min(word.rfind(']'), word.size());
  const auto colon = word.find(':', search == word.size() ? begin : search);
  HostWord result{.name = std::string(word.substr(0, colon)), .slots = {}};
  if (colon != std::string_view::npos) {
    result.slots = word.substr(colon + 1);
    if (result.slots.empty()) {
      return invalid_argument(fmt::format("'{}' has no number of slots after the colon", shown(word)));
    }
    if (result.slots.find(':') != std::string_view::npos) {
      return invalid_argument(
          fmt::format("'{}' has several colons; write an address of IPv6 in brackets, as [fe80::1]:4", shown(word)));
    }
  }
  if (!is_ipv6) return result;
  if (result.name.size() != close + 1) return no_name(word, "something stands behind the bracket");
  result.name = fmt::format("{}{}", word.substr(0, begin), word.substr(begin + 1, close - begin - 1));
  return result;
}

}  // namespace tutti::launch
