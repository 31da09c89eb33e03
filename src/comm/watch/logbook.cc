#include "comm/watch/logbook.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "base/assert.h"
#include "os/small_file.h"
#include "tutti/plan.h"

namespace tutti::comm::watch {

namespace {

// Far more than a program makes communicators over different members; later ones with the same members share a name.
constexpr std::size_t kMembershipsMax = 1 << 16;

template <std::size_t kBytes>
void set_text(std::array<char, kBytes>& target, std::string_view text) {
  target = {};
  std::memcpy(target.data(), text.data(), std::min(text.size(), kBytes - 1));
}

std::vector<std::string_view> plan_names() {
  std::vector<std::string_view> names;
  for (const plan::Algorithm& algorithm : plan::algorithms()) {
    if (std::find(names.begin(), names.end(), algorithm.name) == names.end()) names.push_back(algorithm.name);
  }
  if (names.size() > kPlansMax) names.resize(kPlansMax);
  return names;
}

std::uint64_t mix(std::uint64_t hash, std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return (hash ^ text.size()) * kPrime;
}

SegmentHead head_of_process(os::TickSource source) {
  const os::TickPoint now = os::tick_point(source);
  SegmentHead head{};
  head.magic = kMagic;
  head.version = kVersion;
  head.page_bytes = sizeof(SidePage);
  head.pages = kPagesMax;
  head.ring = kRing;
  head.pid = static_cast<std::uint32_t>(getpid());
  head.tick_source = static_cast<std::uint32_t>(source);
  head.ticks = now.ticks;
  head.time_ns = now.time.ns;
  set_text(head.program, os::read_small_file("/proc/self/comm").value_or("?"));
  const auto names = plan_names();
  for (std::size_t i = 0; i < names.size(); ++i) set_text(head.plans[i], names[i]);
  return head;
}

// Word by word, each of them whole: other threads may be recording.
std::vector<std::uint64_t> copy_of(const SidePage& page) {
  std::vector<std::uint64_t> copy(sizeof(SidePage) / 8);
  const auto* bytes = reinterpret_cast<const std::byte*>(&page);
  constexpr std::size_t kRings = offsetof(SidePage, collectives);
  std::memcpy(copy.data(), bytes, kRings);
  for (std::size_t at = kRings; at < sizeof(SidePage); at += 8) {
    copy[at / 8] = reinterpret_cast<const Word*>(bytes + at)->load(std::memory_order_acquire);
  }
  return copy;
}

}  // namespace

std::uint8_t plan_index(std::string_view algorithm) {
  static const auto names = plan_names();
  const auto found = std::find(names.begin(), names.end(), algorithm);
  return static_cast<std::uint8_t>(found == names.end() ? 0 : found - names.begin() + 1);
}

Logbook& Logbook::of_process() {
  static std::mutex mutex;
  static Logbook* logbook = nullptr;
  static pid_t owner = 0;
  const std::lock_guard lock(mutex);
  if (logbook == nullptr || owner != getpid()) {
    // Not destroyed: sides may outlive everything else. That of a parent is left alone, as the parent still uses it.
    logbook = std::make_unique<Logbook>().release();
    owner = getpid();
  }
  return *logbook;
}

Logbook::Logbook() : source_(os::tick_source()), head_(head_of_process(source_)) {
  auto segment = os::Segment::create(kSegmentName, kSegmentBytes);
  if (!segment) return;
  segment_ = *std::move(segment);
  std::memcpy(segment_.data(), &head_, sizeof(head_));
}

// The lowest, so that the memory is that of the communicators that live at the same time.
SidePage* Logbook::find_free() {
  if (segment_.data() == nullptr) return nullptr;
  for (std::size_t i = 0; i < kPagesMax; ++i) {
    const std::size_t at = kHeadBytes + i * sizeof(SidePage);
    auto* page = reinterpret_cast<SidePage*>(segment_.data() + at);
    if (std::find(used_.begin(), used_.end(), page) != used_.end()) continue;
    const bool was_used = page->head.life.load(std::memory_order_relaxed) != static_cast<std::uint64_t>(Life::none);
    if (was_used && !segment_.release_pages(at, sizeof(SidePage))) return nullptr;
    return page;
  }
  return nullptr;
}

// Those of the same members are told apart by their order, which is the same on every rank, since making one takes all
// of them.
std::uint64_t Logbook::name_communicator(const SideFacts& facts) {
  std::uint64_t name = mix(0xcbf29ce484222325, facts.store);
  for (const transport::Member& peer : facts.peers) {
    name = mix(name, peer.host);
    name = mix(name, std::to_string(peer.pid));
  }
  const std::uint64_t own = mix(name, std::to_string(facts.rank));  // all ranks of a process may be in this book
  if (memberships_.size() >= kMembershipsMax && !memberships_.contains(own)) return name;
  return mix(name, std::to_string(memberships_[own]++));
}

SidePage& Logbook::take(const SideFacts& facts) {
  const std::lock_guard lock(mutex_);
  SidePage* page = find_free();
  if (page == nullptr) page = private_pages_.emplace_back(std::make_unique<SidePage>()).get();
  used_.push_back(page);
  SideHead& head = page->head;
  head.communicator = name_communicator(facts);
  head.rank = static_cast<std::uint32_t>(facts.rank);
  head.size = static_cast<std::uint32_t>(facts.peers.size());
  head.member_count = std::min(head.size, kMembersMax);
  set_text(head.host, facts.peers[static_cast<std::size_t>(facts.rank)].host);
  for (std::size_t i = 0; i < head.member_count; ++i) {
    page->members[i].pid = static_cast<std::uint32_t>(facts.peers[i].pid);
    set_text(page->members[i].host, facts.peers[i].host);
  }
  head.life.store(static_cast<std::uint64_t>(Life::alive), std::memory_order_release);
  return *page;
}

void Logbook::give_back(const SidePage& page) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(used_.begin(), used_.end(), &page);
  TUTTI_ASSERT(found != used_.end(), "a page is given back once");
  (*found)->head.life.store(static_cast<std::uint64_t>(Life::left), std::memory_order_release);
  used_.erase(found);
  std::erase_if(private_pages_, [&](const auto& own) { return own.get() == &page; });
}

void Logbook::set_ended(SidePage& page, Code code, std::string_view reason) {
  const std::lock_guard lock(mutex_);
  set_text(page.head.reason, reason);
  page.head.ended.store(1 + static_cast<std::uint64_t>(code), std::memory_order_release);
}

Recording Logbook::read_locked(const SidePage& page) const {
  PageCopies copies{.first = copy_of(page), .second = {}};
  copies.second = copy_of(page);
  return decode(head_, copies, os::tick_point(source_)).value_or(Recording{});
}

Recording Logbook::read(const SidePage& page) const {
  const std::lock_guard lock(mutex_);
  return read_locked(page);
}

std::vector<Recording> Logbook::read_all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Recording> all;
  for (const SidePage* page : used_) all.push_back(read_locked(*page));
  return all;
}

}  // namespace tutti::comm::watch
