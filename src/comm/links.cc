#include "comm/links.h"

#include <fmt/format.h>

#include <cstring>

#include "os/backoff.h"
#include "os/clock.h"

namespace tutti::comm {

using transport::Port;
using transport::Remote;

namespace {

constexpr std::uint32_t kMagic = 0x6b6e696c;        // "link"
constexpr std::uint32_t kConnectionsMax = 16 * 64;  // TUTTI_RAILS_MAX and TUTTI_SOCKETS_PER_PEER take no more

struct Packed {
  std::uint64_t communicator;  // first: by it a job knows whom the connection is for
  std::uint32_t magic;
  Rank from;
  Rank to;
  std::uint32_t rail;
  std::uint32_t rails;
  std::uint32_t reserved;
};
static_assert(sizeof(Packed) == 32);

}  // namespace

std::vector<std::byte> LinkHello::pack() const {
  const Packed packed{communicator, kMagic, from, to, rail, rails, 0};
  std::vector<std::byte> bytes(sizeof(packed));
  std::memcpy(bytes.data(), &packed, sizeof(packed));
  return bytes;
}

Result<LinkHello> LinkHello::parse(std::span<const std::byte> bytes) {
  Packed packed{};
  if (bytes.size() == sizeof(packed)) std::memcpy(&packed, bytes.data(), sizeof(packed));
  if (packed.magic != kMagic || packed.rails == 0 || packed.rails > kConnectionsMax || packed.rail >= packed.rails ||
      packed.from < 0 || packed.to < 0 || packed.from == packed.to) {
    return Status(Code::network, fmt::format("a connection introduces itself in {} bytes that make no sense; is it of "
                                             "another version?",
                                             bytes.size()));
  }
  return LinkHello{packed.communicator, packed.from, packed.to, packed.rail, packed.rails};
}

Links::Links(const Shape& shape, Dialer dialer) : shape_(shape), dialer_(std::move(dialer)) {}

Links::~Links() { close(); }

Result<Link*> Links::link_of(Rank other, std::uint32_t rails) {
  if (const auto found = links_.find(other); found != links_.end()) return found->second.get();
  auto link = std::make_unique<Link>();
  const auto remote = [&](Port port) {
    if (port == Port::collective) {
      return std::make_unique<Remote>(shape_.size, shape_.rank, shape_.collective_bytes, shape_.bell);
    }
    const bool is_sender = (port == Port::from_lower) == (shape_.rank < other);
    return std::make_unique<Remote>(2, is_sender ? 0 : 1, shape_.pair_bytes, shape_.bell);
  };
  std::array<Remote*, transport::kPorts> ports{};
  for (std::size_t port = 0; port < transport::kPorts; ++port) {
    link->remotes[port] = remote(static_cast<Port>(port));
    ports[port] = link->remotes[port].get();
  }
  TUTTI_ASSIGN(link->wire, dialer_.wire(other, ports, rails));
  return (links_[other] = std::move(link)).get();
}

Result<Link*> Links::open(Rank other, Deadline deadline) {
  const std::uint32_t rails = dialer_.rails(other);
  Link* link = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return Status(Code::aborted, "the communicator has ended");
    TUTTI_ASSIGN(link, link_of(other, rails));
    if (std::exchange(link->is_begun, true) || other < shape_.rank) return link;
  }
  LinkHello hello{.communicator = shape_.communicator, .from = shape_.rank, .to = other, .rails = rails};
  Status first;
  bool has_any = false;
  for (hello.rail = 0; hello.rail < rails; ++hello.rail) {
    auto conduit = dialer_.dial(other, hello.rail, hello.pack(), deadline);
    if (conduit) {
      link->wire->add(*std::move(conduit), hello.rail, dialer_.name(other, hello.rail));
      has_any = true;
    } else if (first) {
      first = conduit.status();
    }
  }
  // Whoever waits for it learns why, and may find out more.
  if (!has_any) link->wire->fail(first);
  if (has_any && !first)
    dialer_.warn(fmt::format("a connection to rank {} could not be made: {}", other, first.text()));
  return link;
}

void Links::accept(const LinkHello& hello, rpc::Conduit conduit) {
  const std::lock_guard lock(mutex_);
  const bool fits = hello.to == shape_.rank && hello.from < shape_.rank;  // the lower one connects
  if (is_closed_ || !fits || hello.from >= shape_.size) return;
  const auto link = link_of(hello.from, hello.rails);
  if (!link) return dialer_.warn(std::string(link.status().text()));
  (*link)->wire->add(std::move(conduit), hello.rail, dialer_.name(hello.from, hello.rail));
}

std::string Links::ways_to(Rank other) const {
  std::string ways;
  const std::uint32_t rails = dialer_.rails(other);
  for (std::uint32_t rail = 0; rail < rails;) {
    const std::string name = dialer_.name(other, rail);
    std::uint32_t count = 1;
    while (rail + count < rails && dialer_.name(other, rail + count) == name) ++count;
    ways += (rail == 0 ? "" : " and ") + name;
    if (count > 1) ways += fmt::format(" in {} connections", count);
    rail += count;
  }
  return ways;
}

void Links::progress() {
  const std::lock_guard lock(mutex_);
  // A failure stays: whoever needs that wire learns of it.
  for (const auto& [rank, link] : links_) static_cast<void>(link->wire->progress());
}

void Links::add_to(std::vector<pollfd>& polled) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [rank, link] : links_) link->wire->add_to(polled);
}

void Links::drop_unanswered() {
  const std::lock_guard lock(mutex_);
  for (const auto& [rank, link] : links_) link->wire->drop_unanswered(dialer_.silence);
}

void Links::settle() const {
  const Deadline deadline = Deadline::after(os::now(), dialer_.silence);
  os::Backoff backoff;
  for (const auto& [rank, link] : links_) {
    while (link->wire->has_unacknowledged() && !dialer_.is_gone(rank) && !deadline.has_passed(os::now())) {
      backoff.pause(deadline);
    }
  }
}

void Links::close() noexcept {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  for (const auto& [rank, link] : links_) link->wire->close();
}

std::size_t Links::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [rank, link] : links_) {
    bytes += sizeof(Link) + link->wire->bytes();
    for (const auto& remote : link->remotes) bytes += remote->bytes();
  }
  return bytes;
}

}  // namespace tutti::comm
