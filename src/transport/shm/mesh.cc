#include "transport/shm/mesh.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/assert.h"
#include "os/clock.h"
#include "os/entropy.h"
#include "os/machine.h"
#include "os/process.h"
#include "os/remote_memory.h"

namespace tutti::transport {

namespace {

// Connections that have not said who they are. Those of peers speak at once; more are strangers, the oldest go.
constexpr std::size_t kVisitorsMax = 256;
constexpr std::size_t kPacketBytesMax = 256;  // a hello is shorter
constexpr std::size_t kCardsMax = 1 << 20;
// Another thread may take what this one polls for; it looks again after this long.
constexpr std::chrono::milliseconds kPollPause{5};

std::string text_of(const Card& card) { return fmt::format("process {} on {}", card.pid, card.host); }

std::string random_name(std::span<const std::byte> id) {
  std::string name = "tutti-";
  for (const std::byte value : id) name += fmt::format("{:02x}", std::to_integer<unsigned>(value));
  return name;
}

// A name in no file system: nothing is left behind.
std::string abstract_name(const Card& card) { return "@" + card.socket; }

}  // namespace

Result<Mesh*> Mesh::of_process() {
  // First, because it is what finds out that this is a forked child, whose mesh is its parent's.
  TUTTI_ASSIGN(device::Heap * heap, device::Heap::of_process());
  static std::mutex creation;
  static Mesh* mesh = nullptr;  // never destroyed: another thread may be connecting while the process ends
  const std::lock_guard lock(creation);
  if (mesh == nullptr) {
    TUTTI_ASSIGN(mesh, create(*heap));
  }
  return mesh;
}

Result<Mesh*> Mesh::create(device::Heap& heap) {
  Card own;
  std::array<std::byte, 16> name{};
  for (const std::span<std::byte> random : {std::span(own.id), std::span(own.key), std::span(name)})
    TUTTI_TRY(os::fill_random(random));
  own.pid = static_cast<std::uint32_t>(getpid());
  own.uid = geteuid();
  own.heap_bytes = heap.limit_bytes();
  own.boot_id = os::this_machine().boot_id;
  own.host = os::this_machine().host;
  own.socket = random_name(name);
  // As others will read it, so that it can be compared with theirs.
  TUTTI_ASSIGN(own, parse_card(pack_card(own)));
  // No file system is asked for an abstract name, so nobody is waited for.
  TUTTI_ASSIGN(auto listener, os::UnixListener::listen(abstract_name(own), os::SocketKind::packet, Deadline()));
  TUTTI_ASSIGN(const std::span<std::byte> probe, heap.allocate(sizeof(Hello::probe_word)));
  TUTTI_TRY(os::fill_random(probe));
  return std::unique_ptr<Mesh>(new Mesh(heap, std::move(own), std::move(listener), probe)).release();
}

Mesh::Mesh(device::Heap& heap, Card own, os::UnixListener listener, std::span<std::byte> probe)
    : heap_(heap), own_(std::move(own)), probe_(probe), listener_(std::move(listener)) {
  met_.emplace(own_.id, Met{own_.key, std::make_shared<const Process>(heap_, own_.host)});
}

Result<std::vector<std::shared_ptr<const Process>>> Mesh::connect(std::span<const std::vector<std::byte>> cards,
                                                                  Deadline deadline) {
  TUTTI_ASSIGN(const std::vector<Card> wanted, read_cards(cards));
  {
    const std::lock_guard lock(mutex_);
    prune();
  }
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      TUTTI_TRY(accept_visitors());
      TUTTI_ASSIGN(const bool is_complete, advance(wanted));
      if (is_complete) return processes_of(wanted);
      if (deadline.has_passed(os::now())) return lateness(wanted);
    }
    wait(deadline);
  }
}

Result<std::vector<Card>> Mesh::read_cards(std::span<const std::vector<std::byte>> cards) const {
  if (cards.size() > kCardsMax) return invalid_argument(fmt::format("{} cards are too many", cards.size()));
  std::vector<Card> result;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    auto card = parse_card(cards[i]);
    if (!card) return card.status().while_doing(fmt::format("reading the card of rank {}", i));
    TUTTI_TRY(check_same_machine(own_, *card));
    if (card->uid != own_.uid) {
      return Status(Code::unsupported, fmt::format("{} runs as user {}, this process as user {}; start all ranks as "
                                                   "one user",
                                                   text_of(*card), card->uid, own_.uid));
    }
    result.push_back(*std::move(card));
  }
  return result;
}

void Mesh::prune() {
  std::erase_if(met_, [](const auto& entry) {
    const ProcessPointer& process = entry.second.process;
    return process.use_count() == 1 && !process->is_alive();
  });
  // Calls that an earlier connect() gave up: the answer may have come late, or never will.
  std::vector<ProcessId> ids;
  for (const auto& [id, called] : called_) ids.push_back(id);
  for (const ProcessId& id : ids) static_cast<void>(collect_answer(id));
}

Status Mesh::accept_visitors() {
  std::erase_if(visitors_, [&](os::UnixSocket& visitor) { return is_done_with(visitor); });
  for (std::size_t i = 0; i < kVisitorsMax; ++i) {
    TUTTI_ASSIGN(auto visitor, listener_.try_accept());
    if (!visitor) return {};
    if (is_done_with(*visitor)) continue;
    if (visitors_.size() == kVisitorsMax) visitors_.erase(visitors_.begin());
    visitors_.push_back(*std::move(visitor));
  }
  return {};
}

// Whether the connection can be closed: it was answered, or it is a stranger's. False: it has said nothing yet.
bool Mesh::is_done_with(os::UnixSocket& visitor) {
  const auto peer = visitor.peer();
  if (!peer || peer->user != own_.uid) return true;
  auto packet = visitor.try_receive_packet(kPacketBytesMax);
  if (!packet) return true;
  if (!packet->has_value()) return false;
  const auto hello = parse_hello((*packet)->bytes);
  if (!hello || hello->receiver_key != own_.key) return true;
  // One that is met already asks again when it gave up waiting for the answer.
  auto known = met_.find(hello->sender);
  if (known == met_.end()) {
    auto met = meet(*hello, *peer, std::move((*packet)->descriptor));
    if (!met) return true;
    known = met_.emplace(hello->sender, *std::move(met)).first;
  }
  if (known->second.key != hello->sender_key) return true;
  // A failure is the other side's to find out: it sees the connection closed.
  static_cast<void>(visitor.try_send_packet(pack_hello(hello_to(hello->sender_key)), heap_.fd()));
  return true;
}

Result<bool> Mesh::advance(std::span<const Card> cards) {
  bool is_complete = true;
  for (const Card& card : cards) {
    if (const auto known = met_.find(card.id); known != met_.end()) {
      if (known->second.key == card.key) continue;
      return invalid_argument(fmt::format("the card of {} has another key than that process", text_of(card)));
    }
    if (card.id < own_.id) {
      const Status status = called_.contains(card.id) ? collect_answer(card.id) : call(card);
      if (!status) return status.while_doing("meeting " + text_of(card));
    }
    is_complete = is_complete && met_.contains(card.id);
  }
  return is_complete;
}

// Success also when it has to be tried again later.
Status Mesh::call(const Card& card) {
  auto socket = os::UnixSocket::try_connect(abstract_name(card), os::SocketKind::packet);
  if (!socket) {
    if (socket.status().code() != Code::peer_lost) return socket.status();
    return {Code::peer_lost, fmt::format("{}; the process has ended, or it is in another network namespace, as "
                                         "containers are: start them with the network of the host",
                                         socket.status().text())};
  }
  if (!socket->has_value()) return {};
  TUTTI_ASSIGN(const os::UnixSocket::Peer peer, (*socket)->peer());
  if (peer.user != own_.uid) return invalid_argument(fmt::format("user {} listens on its socket", peer.user));
  TUTTI_ASSIGN(const bool is_sent, (*socket)->try_send_packet(pack_hello(hello_to(card.key)), heap_.fd()));
  if (is_sent) called_.emplace(card.id, Called{card, **std::move(socket)});
  return {};
}

Status Mesh::collect_answer(const ProcessId& id) {
  const auto called = called_.find(id);
  TUTTI_ASSERT(called != called_.end(), "an answer belongs to a call");
  auto packet = called->second.socket.try_receive_packet(kPacketBytesMax);
  if (packet && !packet->has_value()) return {};
  const Called done = std::move(called->second);
  called_.erase(called);
  if (!packet)
    return {packet.status().code(),
            fmt::format("{}; it has ended or does not know this process", packet.status().text())};
  TUTTI_ASSIGN(Met met, answer_of(done, **std::move(packet)));
  met_.emplace(id, std::move(met));
  return {};
}

Result<Mesh::Met> Mesh::answer_of(const Called& called, os::UnixSocket::Packet packet) const {
  TUTTI_ASSIGN(const Hello hello, parse_hello(packet.bytes));
  if (hello.sender != called.card.id || hello.sender_key != called.card.key || hello.receiver_key != own_.key ||
      hello.heap_bytes != called.card.heap_bytes)
    return invalid_argument("it answered with what is not on its card");
  TUTTI_ASSIGN(const os::UnixSocket::Peer peer, called.socket.peer());
  return meet(hello, peer, std::move(packet.descriptor));
}

Result<Mesh::Met> Mesh::meet(const Hello& hello, const os::UnixSocket::Peer& peer, os::FileDescriptor heap) const {
  TUTTI_ASSIGN(os::Segment segment, os::Segment::adopt(std::move(heap), hello.heap_bytes));
  auto* const probe = reinterpret_cast<void*>(hello.probe_address);  // NOLINT: of the other process
  const bool can_pull = peer.pid > 0 && os::can_write(peer.pid, probe, hello.probe_word);
  const pid_t pid = peer.pid > 0 ? peer.pid : static_cast<pid_t>(hello.sender_pid);
  return Met{hello.sender_key, std::make_shared<const Process>(pid, own_.host, std::move(segment), can_pull)};
}

Hello Mesh::hello_to(const Key& receiver) const {
  Hello hello;
  hello.sender = own_.id;
  hello.sender_key = own_.key;
  hello.receiver_key = receiver;
  hello.sender_pid = own_.pid;
  hello.heap_bytes = own_.heap_bytes;
  hello.probe_address = reinterpret_cast<std::uintptr_t>(probe_.data());
  std::memcpy(hello.probe_word.data(), probe_.data(), hello.probe_word.size());
  return hello;
}

// Until something may have come. A descriptor that another thread closes meanwhile costs one pause at most.
void Mesh::wait(Deadline deadline) {
  std::vector<pollfd> sockets;
  {
    const std::lock_guard lock(mutex_);
    sockets.push_back({listener_.descriptor(), POLLIN, 0});
    for (const auto& visitor : visitors_) sockets.push_back({visitor.descriptor(), POLLIN, 0});
    for (const auto& [id, called] : called_) sockets.push_back({called.socket.descriptor(), POLLIN, 0});
  }
  const Time now = os::now();
  const auto left = std::chrono::nanoseconds(
      std::min<std::uint64_t>(deadline.has_passed(now) ? 0 : deadline.at.ns - now.ns, std::uint64_t{1} << 40));
  const auto pause = std::min(std::chrono::ceil<std::chrono::milliseconds>(left), kPollPause);
  poll(sockets.data(), sockets.size(), static_cast<int>(pause.count()));
}

std::vector<Mesh::ProcessPointer> Mesh::processes_of(std::span<const Card> cards) const {
  std::vector<ProcessPointer> processes;
  for (const Card& card : cards) processes.push_back(met_.at(card.id).process);
  return processes;
}

Status Mesh::lateness(std::span<const Card> cards) const {
  constexpr std::size_t kNamesMax = 8;
  std::vector<std::string> names;
  for (const Card& card : cards) {
    if (met_.contains(card.id)) continue;
    const os::ProcessState state = os::state_of(static_cast<pid_t>(card.pid));
    auto name = fmt::format("{} ({})", text_of(card), os::name_of(state));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  const std::size_t count = names.size();
  names.resize(std::min(count, kNamesMax));
  return {Code::timed_out,
          fmt::format("{}{} did not come in time; every rank has to connect at about the same time",
                      fmt::join(names, ", "), count > kNamesMax ? fmt::format(" and {} more", count - kNamesMax) : "")};
}

}  // namespace tutti::transport
