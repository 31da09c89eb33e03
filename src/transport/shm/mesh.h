// How the processes of one machine meet and map each other's heaps.
//
// Of two processes the one with the larger id connects to the other's socket and sends a hello with the descriptor of
// its heap; the other answers with its own. Everybody first connects and sends, which never waits, then accepts, then
// reads answers: no order of arrival can block. The trust is that of the user: other users' connections are dropped
// unread, and whoever has not read the card cannot name the key.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "device/host/heap.h"
#include "os/unix_socket.h"
#include "transport/shm/card.h"
#include "transport/shm/process.h"
#include "tutti/status.h"

namespace tutti::transport {

class Mesh {
 public:
  // Created at the first call, with the heap of the process; stays until the process ends.
  static Result<Mesh*> of_process();

  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  // How others find this process; travels through a store.
  std::vector<std::byte> card() const { return pack_card(own_); }

  // Meets the processes of these cards; the answer has one entry per card. The card of this process may be among them,
  // and cards may come several times, where a process has several ranks. Everyone named must call this at about the
  // same time; a process that was met before stays met. Several threads may call at once.
  Result<std::vector<std::shared_ptr<const Process>>> connect(std::span<const std::vector<std::byte>> cards,
                                                              Deadline deadline);

 private:
  // shared: by the mesh, which answers the next connect() with it, and by the communicators that use its heap.
  using ProcessPointer = std::shared_ptr<const Process>;
  struct Met {
    Key key;
    ProcessPointer process;
  };

  struct Called {
    Card card;
    os::UnixSocket socket;
  };

  Mesh(device::Heap& heap, Card own, os::UnixListener listener, std::span<std::byte> probe);
  static Result<Mesh*> create(device::Heap& heap);

  Result<std::vector<Card>> read_cards(std::span<const std::vector<std::byte>> cards) const;
  Hello hello_to(const Key& receiver) const;
  Result<Met> meet(const Hello& hello, const os::UnixSocket::Peer& peer, os::FileDescriptor heap) const;
  void wait(Deadline deadline);

  // With the mutex held.
  void prune();
  Status accept_visitors();
  bool is_done_with(os::UnixSocket& visitor);
  Result<bool> advance(std::span<const Card> cards);  // true: all are met
  Status call(const Card& card);
  Status collect_answer(const ProcessId& id);
  Result<Met> answer_of(const Called& called, os::UnixSocket::Packet packet) const;
  std::vector<ProcessPointer> processes_of(std::span<const Card> cards) const;
  Status lateness(std::span<const Card> cards) const;

  device::Heap& heap_;
  const Card own_;
  const std::span<std::byte> probe_;

  std::mutex mutex_;
  os::UnixListener listener_;
  std::map<ProcessId, Met> met_;
  std::map<ProcessId, Called> called_;    // connected and greeted, the answer is still to come
  std::vector<os::UnixSocket> visitors_;  // accepted, have not said who they are
};

}  // namespace tutti::transport
