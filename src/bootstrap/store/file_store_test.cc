#include "bootstrap/store/file_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "bootstrap/store/place_for_test.h"
#include "bootstrap/store/record.h"
#include "bootstrap/store/shared_file.h"

namespace tutti::bootstrap {
namespace {

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_contents(const std::string& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(contents.data(), static_cast<std::streamsize>(contents.size()));
}

void append_contents(const std::string& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary | std::ios::app)
      .write(contents.data(), static_cast<std::streamsize>(contents.size()));
}

class FileStoreTest : public testing::Test {
 protected:
  std::unique_ptr<Store> open() {
    auto store = open_file_store(path, soon());
    if (!store) ADD_FAILURE() << store.status().text();
    return store ? *std::move(store) : create_process_store();
  }
  Status refusal() { return open_file_store(path, soon()).status(); }

  TemporaryDirectory directory;
  std::string path = directory / "store";
};

TEST_F(FileStoreTest, TheFileIsForTheUserAloneWhateverTheMask) {
  const mode_t before = ::umask(0);
  const auto store = open();
  ::umask(before);
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
}

TEST_F(FileStoreTest, AnEmptyFileThatSomebodyMadeIsUsedAndClosedToOthers) {
  write_contents(path, "");
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  const auto store = open();
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
}

TEST_F(FileStoreTest, TheFileGoesWithTheLastWhoClosesIt) {
  auto one = open();
  auto other = open();
  one.reset();
  EXPECT_FALSE(directory.is_empty());
  other.reset();
  EXPECT_TRUE(directory.is_empty());
}

TEST_F(FileStoreTest, AFileOfKilledProcessesStartsAnew) {
  ASSERT_EQ(run_in_processes(1, [&](int) { return open()->set("old", value_of("value")).is_ok(); }), 1);
  ASSERT_EQ(run_in_processes(1,
                             [&](int) {
                               // Never destroyed, as if it had been killed.
                               static const auto store = open();
                               return store->set("old", value_of("value")).is_ok();
                             }),
            1);
  ASSERT_FALSE(directory.is_empty());
  EXPECT_FALSE(open()->get("old")->has_value());
}

TEST_F(FileStoreTest, AWriterKilledInTheMiddleLosesItsChangeAndNothingElse) {
  const auto witness = open();
  ASSERT_TRUE(witness->set("before", value_of("value")));
  const auto whole = contents_of(path);
  const Bytes record = record_of("torn", value_of("never complete"));
  for (std::size_t cut = 0; cut < record.size(); ++cut) {
    append_contents(path, text_of(std::span(record).first(cut)));
    const auto store = open();
    EXPECT_FALSE(store->get("torn")->has_value()) << cut;
    EXPECT_EQ(store->get("before")->value(), value_of("value")) << cut;
    EXPECT_EQ(contents_of(path), whole) << cut;
  }
  append_contents(path, text_of(std::span(record).first(7)));
  ASSERT_TRUE(witness->set("after", value_of("value")));
  EXPECT_EQ(open()->get("after")->value(), value_of("value"));
}

TEST_F(FileStoreTest, AChangedByteIsFoundAndSaidWhere) {
  const auto witness = open();
  ASSERT_TRUE(witness->set("key", value_of("value")));
  const auto whole = contents_of(path);
  for (std::size_t index = kFileHeaderBytes; index < whole.size(); ++index) {
    auto damaged = whole;
    damaged[index] = static_cast<char>(damaged[index] ^ 0x10);
    write_contents(path, damaged);
    const Status status = refusal();
    EXPECT_EQ(status.code(), Code::invalid_argument) << index;
    EXPECT_NE(status.text().find("damaged at byte 16"), std::string::npos) << status.text();
  }
  write_contents(path, whole);
}

TEST_F(FileStoreTest, AFileThatBecameShorterIsAFailure) {
  const auto store = open();
  ASSERT_TRUE(store->set("key", value_of("value")));
  write_contents(path, contents_of(path).substr(0, kFileHeaderBytes));
  EXPECT_FALSE(store->get("key"));
  EXPECT_FALSE(store->set("key", value_of("value")));
}

TEST_F(FileStoreTest, AFileOfAnotherFormatIsRefusedAndStaysAsItIs) {
  Bytes newer = file_header();
  newer[kFileMagic.size()] = std::byte{2};
  for (const std::string_view text : {std::string_view("x"), std::string_view("tuttistX"),
                                      std::string_view("important notes of somebody"), text_of(newer)}) {
    write_contents(path, text);
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
    EXPECT_EQ(refusal().code(), Code::invalid_argument) << text;
    EXPECT_NE(refusal().text().find(path), std::string::npos);
    EXPECT_EQ(contents_of(path), text);
    struct stat found {};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0644u);
  }
  EXPECT_NE(refusal().text().find("version 2"), std::string::npos) << refusal().text();
}

TEST_F(FileStoreTest, AFileOfAnotherUserIsRefused) {
  write_contents(path, "");
  constexpr uid_t kNobody = 65534;
  if (::chown(path.c_str(), kNobody, kNobody) != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_EQ(refusal().code(), Code::invalid_argument);
  EXPECT_NE(refusal().text().find("belongs to user 65534"), std::string::npos) << refusal().text();
}

TEST_F(FileStoreTest, PathsThatCannotBeSayWhy) {
  path = directory / "no/such/store";
  EXPECT_NE(refusal().text().find("there is no directory '" + (directory / "no/such") + "'"), std::string::npos)
      << refusal().text();
  path = directory / ".";
  EXPECT_EQ(refusal().code(), Code::invalid_argument);
  write_contents(directory / "target", "");
  path = directory / "link";
  ASSERT_EQ(::symlink((directory / "target").c_str(), path.c_str()), 0);
  EXPECT_NE(refusal().text().find("is a link"), std::string::npos) << refusal().text();
}

TEST_F(FileStoreTest, ADirectoryOfSomebodyElseIsSaidSo) {
  ASSERT_EQ(::chmod((directory / "").c_str(), 0555), 0);
  const auto work = [&](int) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) return false;
    return refusal().text().find("choose a path in a directory of your own") != std::string_view::npos;
  };
  EXPECT_EQ(run_in_processes(1, work), 1);
  ASSERT_EQ(::chmod((directory / "").c_str(), 0700), 0);
}

TEST_F(FileStoreTest, WaitingEndsWhenTheFileIsTakenAway) {
  const auto store = open();
  ASSERT_EQ(::unlink(path.c_str()), 0);
  const auto value = store->wait("key", soon());
  EXPECT_EQ(value.status().code(), Code::peer_lost);
  EXPECT_NE(value.status().text().find(path), std::string::npos);
}

TEST_F(FileStoreTest, ProcessesThatComeAndGoNeverMissEachOther) {
  constexpr int kProcesses = 6;
  constexpr int kRounds = 20;
  // Between rounds the file is removed and made again, in every order.
  const auto work = [&](int) {
    for (int round = 0; round < kRounds; ++round) {
      const auto store = open_file_store(path, soon());
      if (!store || !(*store)->add("counter", 1)) return false;
    }
    return true;
  };
  EXPECT_EQ(run_in_processes(kProcesses, work), kProcesses);
  EXPECT_TRUE(directory.is_empty());
}

TEST_F(FileStoreTest, CountersOfProcessesLoseNothing) {
  const auto store = open();
  constexpr int kProcesses = 4;
  constexpr int kRounds = 50;
  const auto work = [&](int) {
    const auto mine = open();
    for (int round = 0; round < kRounds; ++round)
      if (!mine->add("counter", 1)) return false;
    return true;
  };
  EXPECT_EQ(run_in_processes(kProcesses, work), kProcesses);
  EXPECT_EQ(*store->add("counter", 0), kProcesses * kRounds);
}

TEST_F(FileStoreTest, WhoDiesWithTheTurnBlocksNobody) {
  const auto store = open();
  const auto work = [&](int) {
    auto opened = SharedFile::open(path, soon());
    ::_exit(opened ? 0 : 1);
    return true;
  };
  ASSERT_EQ(run_in_processes(1, work), 1);
  EXPECT_EQ(*store->add("counter", 1), 1);
}

TEST_F(FileStoreTest, WhoKeepsTheTurnMakesOthersTimeOut) {
  const auto opened = SharedFile::open(path, soon());
  ASSERT_TRUE(opened);
  const auto other = open_file_store(path, soon(std::chrono::milliseconds(5)));
  EXPECT_EQ(other.status().code(), Code::timed_out);
  EXPECT_NE(other.status().text().find("locked"), std::string::npos);
}

}  // namespace
}  // namespace tutti::bootstrap
