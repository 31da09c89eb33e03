#include "transport/shm/mesh.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "os/clock.h"
#include "os/futex.h"
#include "os/remote_memory.h"
#include "os/segment.h"
#include "os/thread.h"

namespace tutti::transport {
namespace {

// The heap belongs to a process for good, so every test runs its processes as children and the parent has none.

using Cards = std::vector<std::vector<std::byte>>;

constexpr int kProcessesMax = 8;
constexpr std::size_t kCardBytesMax = 512;

Deadline soon() { return Deadline::after(os::now(), std::chrono::seconds(30)); }

// What children of a test share: cards, offsets and a count of arrivals.
struct Board {
  std::atomic<std::uint32_t> arrivals = 0;
  std::atomic<std::uint32_t> flag = 0;
  std::array<std::array<std::byte, kCardBytesMax>, kProcessesMax> cards{};
  std::array<std::size_t, kProcessesMax> card_bytes{};
  std::array<std::uint64_t, kProcessesMax> offsets{};

  void publish(int rank, const std::vector<std::byte>& card) {
    std::memcpy(cards[rank].data(), card.data(), card.size());
    card_bytes[rank] = card.size();
  }
  std::vector<std::byte> card(int rank) const {
    return {cards[rank].begin(), cards[rank].begin() + static_cast<std::ptrdiff_t>(card_bytes[rank])};
  }
  Cards all(int count) const {
    Cards result;
    for (int rank = 0; rank < count; ++rank) result.push_back(card(rank));
    return result;
  }
  // The n-th meeting of `count` processes ends at n * count arrivals.
  bool arrive_until(std::uint32_t total) {
    const Deadline limit = soon();
    ++arrivals;
    os::futex_wake_all(arrivals);
    while (true) {
      const std::uint32_t seen = arrivals;
      if (seen >= total) return true;
      if (limit.has_passed(os::now())) return false;
      os::futex_wait(arrivals, seen, limit);
    }
  }
};

#define CHECK_CHILD(condition, text)                                                           \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, (text).c_str()); \
      return false;                                                                            \
    }                                                                                          \
  } while (false)

std::string error_of(const Status& status) { return std::string(status.text()); }

using Child = std::function<bool(int rank, Board& board)>;

class MeshTest : public testing::Test {
 protected:
  void SetUp() override {
    auto segment = os::Segment::create("board", sizeof(Board));
    ASSERT_TRUE(segment) << segment.status().text();
    segment_ = *std::move(segment);
    board_ = new (segment_.data()) Board;  // NOLINT: its memory is the segment's
  }
  void TearDown() override {
    for (const pid_t child : children_) {
      if (child == 0) continue;
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

  void start(int count, const Child& work) {
    for (int rank = 0; rank < count; ++rank) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        alarm(60);  // ends what hangs
        _exit(work(rank, *board_) ? 0 : 1);
      }
      children_.push_back(child);
    }
  }
  void expect_success(int rank) {
    int status = 0;
    ASSERT_EQ(waitpid(children_[rank], &status, 0), children_[rank]);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "rank " << rank << " ended with " << status;
    children_[rank] = 0;
  }
  void run(int count, const Child& work) {
    start(count, work);
    for (int rank = 0; rank < count; ++rank) expect_success(rank);
  }

  os::Segment segment_;
  Board* board_ = nullptr;
  std::vector<pid_t> children_;  // 0: was waited for
};

// Publishes the card of this process and waits for those of the others.
Result<Mesh*> introduce(int rank, int count, Board& board) {
  TUTTI_ASSIGN(Mesh * mesh, Mesh::of_process());
  board.publish(rank, mesh->card());
  if (!board.arrive_until(static_cast<std::uint32_t>(count))) return Status(Code::timed_out, "no others came");
  return mesh;
}

// Everyone writes a mark into everyone's heap and finds those of all.
bool exchange(int rank, int count, Board& board) {
  const auto mesh = introduce(rank, count, board);
  CHECK_CHILD(mesh, error_of(mesh.status()));
  auto* const heap = *device::Heap::of_process();
  const auto mine = heap->allocate(kProcessesMax);
  CHECK_CHILD(mine, error_of(mine.status()));
  board.offsets[rank] = *heap->offset_of(mine->data(), mine->size());
  const auto processes = (*mesh)->connect(board.all(count), soon());
  CHECK_CHILD(processes, error_of(processes.status()));
  CHECK_CHILD(board.arrive_until(2 * count), error_of({}));
  for (int peer = 0; peer < count; ++peer) {
    const Process& process = *(*processes)[peer];
    CHECK_CHILD(process.is_alive(), std::to_string(peer));
    CHECK_CHILD(process.is_self() == (peer == rank), std::to_string(peer));
    CHECK_CHILD(process.pid() > 0 && !process.host().empty(), std::to_string(peer));
    CHECK_CHILD(board.offsets[peer] + kProcessesMax <= process.heap_bytes(), std::to_string(peer));
    process.heap()[board.offsets[peer] + rank] = static_cast<std::byte>(rank + 1);
  }
  CHECK_CHILD(board.arrive_until(3 * count), error_of({}));
  for (int peer = 0; peer < count; ++peer)
    CHECK_CHILD((*mine)[peer] == static_cast<std::byte>(peer + 1), std::to_string(peer));
  return true;
}

TEST_F(MeshTest, TwoProcessesWriteIntoEachOthersHeaps) {
  run(2, [](int rank, Board& board) { return exchange(rank, 2, board); });
}

TEST_F(MeshTest, FourProcessesWriteIntoEachOthersHeaps) {
  run(4, [](int rank, Board& board) { return exchange(rank, 4, board); });
}

TEST_F(MeshTest, WhoCanPullReadsMemoryThatIsNotShared) {
  run(2, [](int rank, Board& board) {
    const auto mesh = introduce(rank, 2, board);
    CHECK_CHILD(mesh, error_of(mesh.status()));
    const std::uint64_t word = 1000 + static_cast<std::uint64_t>(rank);  // on the stack
    board.offsets[rank] = reinterpret_cast<std::uintptr_t>(&word);
    const auto processes = (*mesh)->connect(board.all(2), soon());
    CHECK_CHILD(processes && board.arrive_until(4), error_of(processes.status()));
    const Process& other = *(*processes)[1 - rank];
    std::uint64_t got = 0;
    const auto* const there = reinterpret_cast<const void*>(board.offsets[1 - rank]);  // NOLINT: of the other process
    const Status read = os::read_memory(other.pid(), reinterpret_cast<std::byte*>(&got), there, sizeof(got));
    CHECK_CHILD(read.is_ok() == other.can_pull(), error_of(read));
    CHECK_CHILD(!read || got == 1001 - static_cast<std::uint64_t>(rank), std::to_string(got));
    return board.arrive_until(6);
  });
}

TEST_F(MeshTest, ACardThatComesTwiceIsOneProcess) {
  run(2, [](int rank, Board& board) {
    const auto mesh = introduce(rank, 2, board);
    CHECK_CHILD(mesh, error_of(mesh.status()));
    const Cards cards = {board.card(0), board.card(1), board.card(0), board.card(1)};
    const auto processes = (*mesh)->connect(cards, soon());
    CHECK_CHILD(processes, error_of(processes.status()));
    CHECK_CHILD((*processes)[0] == (*processes)[2] && (*processes)[1] == (*processes)[3], error_of({}));
    CHECK_CHILD((*processes)[0] != (*processes)[1], error_of({}));
    const auto again = (*mesh)->connect(cards, Deadline::after(os::now(), {}));
    CHECK_CHILD(again && *again == *processes, error_of(again.status()));
    return board.arrive_until(4);
  });
}

int mapped_heaps() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("tutti-heap") != std::string::npos ? 1 : 0;
  return count;
}

TEST_F(MeshTest, AKilledProcessIsSeenDeadBeforeItIsReaped) {
  start(2, [](int rank, Board& board) {
    const auto mesh = introduce(rank, 2, board);
    CHECK_CHILD(mesh, error_of(mesh.status()));
    auto processes = (*mesh)->connect(board.all(2), soon());
    CHECK_CHILD(processes && board.arrive_until(4), error_of(processes.status()));
    if (rank == 1) raise(SIGKILL);
    const Deadline limit = soon();
    while ((*processes)[1]->is_alive() && !limit.has_passed(os::now())) os::futex_wait(board.flag, 0, limit);
    CHECK_CHILD(!(*processes)[1]->is_alive(), error_of({}));
    return true;
  });
  // The flag is only there to wait on: the child looks again when this parent sees the other one end.
  siginfo_t information{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(children_[1]), &information, WEXITED | WNOWAIT), 0);
  board_->flag = 1;
  os::futex_wake_all(board_->flag);
  expect_success(0);
}

TEST_F(MeshTest, TheHeapOfADeadProcessIsUnmappedAtTheNextConnect) {
  start(2, [](int rank, Board& board) {
    const auto mesh = introduce(rank, 2, board);
    CHECK_CHILD(mesh, error_of(mesh.status()));
    auto processes = (*mesh)->connect(board.all(2), soon());
    CHECK_CHILD(processes && board.arrive_until(4), error_of(processes.status()));
    if (rank == 1) return true;
    const Deadline limit = soon();
    while ((*processes)[1]->is_alive()) {
      CHECK_CHILD(!limit.has_passed(os::now()), error_of({}));
      os::futex_wait(board.flag, 0, Deadline::after(os::now(), std::chrono::milliseconds(1)));
    }
    const Cards own = {board.card(0)};
    CHECK_CHILD((*mesh)->connect(own, soon()), error_of({}));
    CHECK_CHILD(mapped_heaps() == 2, std::string("somebody still uses it"));
    processes = (*mesh)->connect(own, soon());
    CHECK_CHILD((*mesh)->connect(own, soon()), error_of({}));
    CHECK_CHILD(mapped_heaps() == 1, std::to_string(mapped_heaps()));
    const auto gone = (*mesh)->connect(board.all(2), Deadline::after(os::now(), std::chrono::milliseconds(50)));
    CHECK_CHILD(!gone, error_of({}));
    const Code code = gone.status().code();  // which one depends on whose id is larger
    CHECK_CHILD(code == Code::timed_out || code == Code::peer_lost, error_of(gone.status()));
    return true;
  });
  expect_success(0);
}

// A connection from outside that says this, with so many descriptors; stays open until the process ends.
bool send_as_stranger(const std::string& socket_name, std::span<const std::byte> bytes, int descriptors) {
  auto connected = os::UnixSocket::try_connect("@" + socket_name, os::SocketKind::packet);
  if (!connected || !connected->has_value()) return false;
  static std::vector<os::UnixSocket> kept;
  os::UnixSocket& socket = kept.emplace_back(**std::move(connected));
  if (descriptors == 1) {
    static_cast<void>(socket.try_send_packet(bytes, STDERR_FILENO));
  } else if (!bytes.empty()) {
    static_cast<void>(socket.try_send(bytes));
  }
  return true;
}

TEST_F(MeshTest, StrangersAndGarbageDoNoHarm) {
  run(3, [](int rank, Board& board) {
    if (rank < 2) {
      // The stranger goes first: everything it sent is waiting when the two connect.
      const auto mesh = introduce(rank, 3, board);
      CHECK_CHILD(mesh && board.arrive_until(6), error_of(mesh.status()));
      const auto processes = (*mesh)->connect(board.all(2), soon());
      CHECK_CHILD(processes, error_of(processes.status()));
      CHECK_CHILD((*processes)[1 - rank]->is_alive(), error_of({}));
      return board.arrive_until(9);
    }
    CHECK_CHILD(board.arrive_until(3), error_of({}));
    for (int peer = 0; peer < 2; ++peer) {
      const auto card = parse_card(board.card(peer));
      CHECK_CHILD(card, error_of(card.status()));
      Hello hello;  // without the key
      hello.heap_bytes = 4096;
      const std::vector<std::byte> garbage(1000, std::byte{0x55});
      Hello unsealed = hello;  // with the key, but what it brings is no heap
      unsealed.receiver_key = card->key;
      for (const auto& bytes : {garbage, pack_hello(hello), pack_hello(unsealed), std::vector<std::byte>()}) {
        CHECK_CHILD(send_as_stranger(card->socket, bytes, 0), error_of({}));
        CHECK_CHILD(send_as_stranger(card->socket, bytes, 1), error_of({}));
      }
      for (int i = 0; i < 50; ++i) CHECK_CHILD(send_as_stranger(card->socket, {}, 0), std::to_string(i));
    }
    return board.arrive_until(6) && board.arrive_until(9);
  });
}

TEST_F(MeshTest, TwoThreadsOfAProcessConnectAtOnce) {
  run(3, [](int rank, Board& board) {
    const auto mesh = introduce(rank, 3, board);
    CHECK_CHILD(mesh, error_of(mesh.status()));
    // One thread wants all, the other every pair that this process is in.
    std::array<Status, 2> results;
    {
      auto all = os::Thread::start("all", [&] { results[0] = (*mesh)->connect(board.all(3), soon()).status(); });
      auto pairs = os::Thread::start("pairs", [&] {
        for (int peer = 0; peer < 3 && results[1]; ++peer) {
          const Cards cards = {board.card(rank), board.card(peer)};
          results[1] = (*mesh)->connect(cards, soon()).status();
        }
      });
      CHECK_CHILD(all && pairs, error_of({}));
    }
    CHECK_CHILD(results[0], error_of(results[0]));
    CHECK_CHILD(results[1], error_of(results[1]));
    return board.arrive_until(6);
  });
}

TEST_F(MeshTest, WhoDoesNotComeIsNamed) {
  run(1, [](int, Board&) {
    const auto mesh = Mesh::of_process();
    CHECK_CHILD(mesh, error_of(mesh.status()));
    Card absent = *parse_card((*mesh)->card());
    absent.id.fill(std::byte{0xff});
    absent.pid = static_cast<std::uint32_t>(getppid());
    Cards cards = {(*mesh)->card(), pack_card(absent)};
    const auto late = (*mesh)->connect(cards, Deadline::after(os::now(), std::chrono::milliseconds(20)));
    CHECK_CHILD(!late && late.status().code() == Code::timed_out, error_of(late.status()));
    const std::string name = fmt::format("process {} on {}", getppid(), absent.host);
    CHECK_CHILD(late.status().text().starts_with(name), error_of(late.status()));
    // One with a smaller id is called, and nobody listens.
    absent.id.fill(std::byte{0});
    absent.socket += "x";
    cards[1] = pack_card(absent);
    const auto lost = (*mesh)->connect(cards, soon());
    CHECK_CHILD(!lost && lost.status().code() == Code::peer_lost, error_of(lost.status()));
    CHECK_CHILD(lost.status().text().find(name) != std::string_view::npos, error_of(lost.status()));
    return true;
  });
}

TEST_F(MeshTest, AnotherMachineAndAnotherUserAreRefusedAtOnce) {
  run(1, [](int, Board&) {
    const auto mesh = Mesh::of_process();
    CHECK_CHILD(mesh, error_of(mesh.status()));
    Card far = *parse_card((*mesh)->card());
    far.id.fill(std::byte{0xff});
    Card foreign = far;
    far.host = "elsewhere";
    foreign.uid += 1;
    for (const Card& card : {far, foreign}) {
      const Cards cards = {pack_card(card)};
      const auto refused = (*mesh)->connect(cards, soon());
      CHECK_CHILD(!refused && refused.status().code() == Code::unsupported, error_of(refused.status()));
    }
    return true;
  });
}

TEST_F(MeshTest, AProcessThatGaveUpIsMetLater) {
  run(2, [](int rank, Board& board) {
    const auto mesh = introduce(rank, 2, board);
    CHECK_CHILD(mesh, error_of(mesh.status()));
    // The one that calls gives up before the other listens; the hello it left behind is answered later.
    const bool calls = parse_card(board.card(rank))->id > parse_card(board.card(1 - rank))->id;
    if (calls) {
      const auto late = (*mesh)->connect(board.all(2), Deadline::after(os::now(), {}));
      CHECK_CHILD(!late && late.status().code() == Code::timed_out, error_of(late.status()));
    }
    CHECK_CHILD(board.arrive_until(4), error_of({}));
    const auto processes = (*mesh)->connect(board.all(2), soon());
    CHECK_CHILD(processes, error_of(processes.status()));
    return board.arrive_until(6);
  });
}

}  // namespace
}  // namespace tutti::transport
