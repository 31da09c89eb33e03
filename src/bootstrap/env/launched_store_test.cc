#include "bootstrap/env/launched_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "bootstrap/env/kept_store.h"
#include "bootstrap/env/local_store.h"
#include "bootstrap/env/meeting_store.h"
#include "bootstrap/exchange.h"
#include "bootstrap/store/place_for_test.h"
#include "os/tcp_socket.h"

namespace tutti::bootstrap {
namespace {

using Open = std::function<Result<std::unique_ptr<Store>>(Rank rank)>;

// Everybody's number for everybody, and everybody leaves.
bool has_met(const Open& open, Rank rank, Rank size) {
  const auto store = open(rank);
  if (!store) ADD_FAILURE() << store.status().text();
  if (!store) return false;
  const auto all = exchange(**store, "numbers", rank, size, bytes_of(std::to_string(rank)), soon());
  if (!all) ADD_FAILURE() << all.status().text();
  if (!all) return false;
  for (Rank other = 0; other < size; ++other) {
    if (text_of((*all)[static_cast<std::size_t>(other)]) != std::to_string(other)) return false;
  }
  return leave(**store, size).is_ok();
}

#if !defined(TUTTI_HAS_THREAD_SANITIZER)
TEST(LocalStore, JoinsProcessesAndLeavesNothing) {
  const TemporaryDirectory directory;
  const Open open = [&](Rank rank) { return open_local_store("job", rank, directory / "", soon()); };
  EXPECT_EQ(run_in_processes(5, [&](int rank) { return has_met(open, rank, 5); }), 5);
  EXPECT_TRUE(directory.is_empty());
}
#endif

TEST(LocalStore, IsForItsUserAlone) {
  const TemporaryDirectory directory;
  const std::string root = directory / "";
  const auto store = open_local_store("job", 0, root, soon());
  ASSERT_TRUE(store) << store.status().text();
  struct stat found {};
  ASSERT_EQ(::stat(local_folder_of("job", root).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0700u);
}

TEST(LocalStore, RefusesAFolderThatOthersCanEnter) {
  const TemporaryDirectory directory;
  const std::string folder = local_folder_of("job", directory / "");
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  const auto open = open_local_store("job", 0, directory / "", soon());
  EXPECT_EQ(open.status().code(), Code::invalid_argument) << open.status().text();
  ASSERT_EQ(::rmdir(folder.c_str()), 0);
  std::filesystem::create_symlink("/", folder);
  EXPECT_FALSE(open_local_store("job", 0, directory / "", soon()));
}

TEST(LocalStore, NamesJobsApartInPathsThatFitASocket) {
  EXPECT_NE(local_folder_of("a", "/tmp"), local_folder_of("b", "/tmp"));
  EXPECT_EQ(local_folder_of("a", "/" + std::string(200, 'x')), local_folder_of("a", "/tmp"));
}

TEST(LocalStore, EndsInTimeWithoutRank0AndLeavesNothing) {
  const TemporaryDirectory directory;
  const auto store = open_local_store("job", 1, directory / "", soon(std::chrono::milliseconds(50)));
  EXPECT_EQ(store.status().code(), Code::timed_out) << store.status().text();
  EXPECT_TRUE(directory.is_empty());
}

TEST(LocalStore, SaysWhereTheFolderCannotBe) {
  const auto store = open_local_store("job", 0, "/proc/none", soon());
  ASSERT_FALSE(store);
  EXPECT_NE(store.status().text().find("set TMPDIR"), std::string_view::npos) << store.status().text();
}

TEST(KeptStore, EndsAfterTheStore) {
  int ends = 0;
  {
    const auto store = create_kept_store(create_process_store(), [&] { ++ends; });
    ASSERT_TRUE(store->set("key", bytes_of("value")));
    EXPECT_EQ(*store->wait("key", soon()), value_of("value"));
    EXPECT_EQ(ends, 0);
  }
  EXPECT_EQ(ends, 1);
}

// Threads as ranks, joined by what a launcher would pass on.
TEST(BroadcastStore, JoinsAllAndOutlivesRank0sImpatience) {
  constexpr Rank kSize = 4;
  const auto channel = create_process_store();
  const auto broadcast_of = [&](Rank rank) {
    return [&, rank](std::string_view text) -> Result<std::string> {
      if (rank == 0) TUTTI_TRY(channel->set("text", bytes_of(text)));
      TUTTI_ASSIGN(const Bytes given, channel->wait("text", soon()));
      return std::string(text_of(given));
    };
  };
  const Open open = [&](Rank rank) { return open_broadcast_store(rank, broadcast_of(rank), soon()); };
  std::vector<std::thread> ranks;
  std::atomic<int> met = 0;
  for (Rank rank = 0; rank < kSize; ++rank) ranks.emplace_back([&, rank] { met += has_met(open, rank, kSize); });
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(met, kSize);
}

TEST(BroadcastStore, TellsOthersWhyRank0Failed) {
  const auto broadcast = [](std::string_view) -> Result<std::string> {
    return std::string("failure:no~network~interface");
  };
  const auto store = open_broadcast_store(1, broadcast, soon());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.status().text(), "rank 0 could not open a meeting point: no network interface");
}

// Ports are free when a listener that was given any one has gone.
std::string free_address() {
  const auto listener = os::TcpListener::listen(*os::TcpAddress::parse("127.0.0.1:0"), {});
  return listener ? listener->address().text() : "";
}

TEST(StoreAtAnAddress, JoinsThoseWhoWereToldIt) {
  const std::string address = free_address();
  const Open open = [&](Rank rank) { return open_store_at(address, rank, soon()); };
  std::atomic<int> met = 0;
  std::thread other([&] { met += has_met(open, 1, 2); });
  met += has_met(open, 0, 2);
  other.join();
  EXPECT_EQ(met, 2);
}

TEST(StoreAtAnAddress, EndsInTimeWithoutRank0) {
  const auto store = open_store_at(free_address(), 1, soon(std::chrono::milliseconds(100)));
  EXPECT_EQ(store.status().code(), Code::timed_out) << store.status().text();
  EXPECT_NE(store.status().text().find("rank 0 could not be met in time"), std::string_view::npos);
}

TEST(LocalPlace, IsFoundByAskingTheOthers) {
  const auto store = create_process_store();
  std::vector<Launch> launches(3);
  std::vector<std::thread> ranks;
  for (Rank rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      Launch& launch = launches[static_cast<std::size_t>(rank)];
      launch = {.rank = rank, .size = 3};
      const Status status = find_local_place(launch, *store, soon());
      EXPECT_TRUE(status) << status.text();
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (const Launch& launch : launches) {
    EXPECT_TRUE(launch.has_local_place);
    EXPECT_EQ(launch.local_rank, launch.rank);
    EXPECT_EQ(launch.local_size, 3);
  }
}

TEST(LaunchedStore, OfOneProcessNeedsNobody) {
  const auto store = open_launched_store({.launcher = "srun"}, soon());
  ASSERT_TRUE(store) << store.status().text();
  EXPECT_TRUE(has_met([](Rank) { return open_launched_store({.launcher = "srun"}, soon()); }, 0, 1));
}

TEST(LaunchedStore, TakesTheStoreThatIsSetBeforeEverythingElse) {
  const TemporaryDirectory directory;
  const Launch launch{.size = 2, .store = "file:" + (directory / "store"), .pmi_descriptor = 12345};
  const auto store = open_launched_store(launch, soon());
  ASSERT_TRUE(store) << store.status().text();
  EXPECT_TRUE(std::filesystem::exists(directory / "store"));
}

TEST(LaunchedStore, SaysWhatToSetWhereThereIsNoWay) {
  const auto store =
      open_launched_store({.launcher = "RANK and WORLD_SIZE", .size = 2, .pmi_descriptor = 12345}, soon());
  ASSERT_FALSE(store);
  EXPECT_NE(store.status().text().find("PMI_FD=12345 is no socket"), std::string_view::npos) << store.status().text();
  EXPECT_NE(store.status().text().find("set TUTTI_STORE"), std::string_view::npos) << store.status().text();
}

}  // namespace
}  // namespace tutti::bootstrap
