#include "launch/control/server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "launch/control/client.h"
#include "launch/control/fake_job_for_test.h"
#include "launch/control/folder.h"
#include "os/clock.h"

namespace tutti::launch::control {
namespace {

class ControlServer : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    top = pattern;
    folder = top + "/jobs";
    auto created = os::EventLoop::create();
    ASSERT_TRUE(created);
    loop = *std::move(created);
    job.current = some_job();
  }
  void TearDown() override { std::filesystem::remove_all(top); }

  static Deadline soon() { return Deadline::after(os::now(), std::chrono::seconds(20)); }
  std::unique_ptr<Server> serve(std::string_view name) {
    auto server = Server::create(*loop, job, name, {folder});
    EXPECT_TRUE(server) << server.status().text();
    return server ? *std::move(server) : nullptr;
  }
  static Client connect(const Server& server) {
    auto client = Client::connect(server.path(), soon());
    EXPECT_TRUE(client) << client.status().text();
    return *std::move(client);
  }
  // Turns the loop until the client has an answer or the connection is over.
  Result<Answer> answer_to(Client& client) {
    Result<std::optional<Answer>> answer{std::optional<Answer>()};
    EXPECT_TRUE(loop->run_until(
        [&] {
          answer = client.try_receive();
          loop->call_later([] {});
          return !answer || answer->has_value();
        },
        soon()));
    if (!answer) return answer.status();
    return **std::move(answer);
  }
  Result<Answer> ask(Client& client, const Request& request) {
    EXPECT_TRUE(client.send(request, soon()));
    return answer_to(client);
  }

  std::string top;
  std::string folder;
  std::unique_ptr<os::EventLoop> loop;
  FakeJob job;
};

TEST_F(ControlServer, TellsTheStatusUnderTheNameOfItsSocket) {
  const auto server = serve("train");
  Client client = connect(*server);
  job.current.name = "another";
  const auto answer = ask(client, {.ask = Ask::status});
  ASSERT_TRUE(answer) << answer.status().text();
  ASSERT_TRUE(answer->job);
  EXPECT_EQ(answer->job->name, "train");
  EXPECT_EQ(answer->job->ranks, some_job().ranks);
}

TEST_F(ControlServer, PassesOnWhatIsAsked) {
  const auto server = serve("train");
  Client client = connect(*server);
  ASSERT_TRUE(ask(client, {.ask = Ask::stop}));
  ASSERT_TRUE(ask(client, {.ask = Ask::kill}));
  ASSERT_TRUE(ask(client, {.ask = Ask::signal, .signal = 10, .rank = 2}));
  EXPECT_EQ(job.asked, (std::vector<std::string>{"stop", "kill", "signal 10 to 2"}));
  const auto refused = ask(client, {.ask = Ask::signal, .signal = 10, .rank = 9});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->failure.text(), "there is no rank 9");
  EXPECT_TRUE(ask(client, {.ask = Ask::status})) << "a refusal does not end the connection";
}

TEST_F(ControlServer, AnswersWithSamplesWhenTheyHaveComeAndOthersMeanwhile) {
  const auto server = serve("train");
  Client patient = connect(*server);
  Client other = connect(*server);
  ASSERT_TRUE(patient.send({.ask = Ask::samples}, soon()));
  ASSERT_TRUE(loop->run_until([&] { return !job.waiting.empty(); }, soon()));
  ASSERT_TRUE(ask(other, {.ask = Ask::status}));
  const auto nothing = patient.try_receive();
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->has_value());
  job.current.ranks[0].sample.emplace().cpu_permille = 5;
  job.waiting[0]();
  const auto answer = answer_to(patient);
  ASSERT_TRUE(answer);
  ASSERT_TRUE(answer->job->ranks[0].sample);
  EXPECT_EQ(answer->job->ranks[0].sample->cpu_permille, 5u);
}

TEST_F(ControlServer, ForgetsAClientThatLeavesBeforeItsSamplesCome) {
  auto server = serve("train");
  {
    Client client = connect(*server);
    ASSERT_TRUE(client.send({.ask = Ask::samples}, soon()));
    ASSERT_TRUE(loop->run_until([&] { return !job.waiting.empty(); }, soon()));
  }
  EXPECT_TRUE(loop->run_until([&] { return server->client_count() == 0; }, soon()));
  job.waiting[0]();
  server.reset();
  job.waiting[0]();  // nor does the server have to be there any more
}

TEST_F(ControlServer, AnswersRequestsThatCameTogetherOneAfterTheOther) {
  const auto server = serve("train");
  auto socket = os::UnixSocket::connect(server->path(), os::SocketKind::stream, soon());
  ASSERT_TRUE(socket);
  const std::string lines = line_of({.ask = Ask::stop}) + line_of({.ask = Ask::kill}) + line_of({.ask = Ask::stop});
  ASSERT_TRUE(socket->send_all(std::as_bytes(std::span(lines)), soon()));
  EXPECT_TRUE(loop->run_until([&] { return job.asked.size() == 3; }, soon()));
}

TEST_F(ControlServer, WritesAnAnswerThatIsLargerThanTheSocketTakes) {
  const auto server = serve("train");
  job.current.ranks.assign(20'000, some_job().ranks[1]);
  Client client = connect(*server);
  const auto answer = ask(client, {.ask = Ask::status});
  ASSERT_TRUE(answer) << answer.status().text();
  EXPECT_EQ(answer->job->ranks.size(), 20'000u);
}

TEST_F(ControlServer, AnswersGarbageWithAnErrorAndCloses) {
  const auto server = serve("train");
  for (const std::string& garbage : {std::string("GET / HTTP/1.1\r\n"), std::string(kRequestBytesMax * 3, 'x')}) {
    auto socket = os::UnixSocket::connect(server->path(), os::SocketKind::stream, soon());
    ASSERT_TRUE(socket);
    ASSERT_TRUE(socket->send_all(std::as_bytes(std::span(garbage)), soon()));
    std::string answer;
    ASSERT_TRUE(loop->run_until(
        [&] {
          std::array<std::byte, 512> space;
          const auto received = socket->try_receive(space);
          if (received) answer.append(reinterpret_cast<const char*>(space.data()), *received);
          loop->call_later([] {});
          return !received;
        },
        soon()));
    EXPECT_TRUE(answer.starts_with(R"({"answer":"error","text":")")) << answer;
    EXPECT_EQ(server->client_count(), 0u);
  }
}

TEST_F(ControlServer, RefusesMoreClientsThanItServes) {
  const auto server = serve("train");
  std::vector<Client> clients;
  for (std::size_t i = 0; i < Server::kClientsMax; ++i) clients.push_back(connect(*server));
  ASSERT_TRUE(loop->run_until([&] { return server->client_count() == Server::kClientsMax; }, soon()));
  Client extra = connect(*server);
  const auto answer = answer_to(extra);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->failure.text(), "64 clients watch job 'train' already");
  clients.pop_back();
  ASSERT_TRUE(loop->run_until([&] { return server->client_count() < Server::kClientsMax; }, soon()));
  Client next = connect(*server);
  EXPECT_TRUE(ask(next, {.ask = Ask::status}));
}

TEST_F(ControlServer, EndsItsConnectionsWithTheJob) {
  auto server = serve("train");
  const std::string path = server->path();
  Client client = connect(*server);
  ASSERT_TRUE(ask(client, {.ask = Ask::status}));
  EXPECT_EQ(client.wait_for_end(Deadline::after(os::now(), std::chrono::milliseconds(1))).code(), Code::timed_out);
  server.reset();
  EXPECT_TRUE(client.wait_for_end(soon()));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ControlServer, GivesJobsOfOneNameNumbers) {
  const auto first = serve("train");
  const auto second = serve("train");
  const auto third = serve("train");
  EXPECT_EQ(first->name(), "train");
  EXPECT_EQ(second->name(), "train-2");
  EXPECT_EQ(third->name(), "train-3");
  const std::string longest(kJobNameBytesMax, 'n');
  const auto fourth = serve(longest);
  const auto fifth = serve(longest);
  EXPECT_EQ(fifth->name(), longest.substr(2) + "-2");
}

TEST_F(ControlServer, TakesNoNameThatIsAPath) {
  for (const char* name : {"", "../evil", "a/b", "a b", ".a", "-a", "ü"}) {
    EXPECT_FALSE(Server::create(*loop, job, name, {folder})) << name;
  }
  EXPECT_FALSE(Server::create(*loop, job, std::string(kJobNameBytesMax + 1, 'n'), {folder}));
}

TEST_F(ControlServer, UsesNoFolderThatOthersCouldHaveMade) {
  struct stat made {};
  const auto first = serve("train");
  ASSERT_EQ(::stat(folder.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 07777, 0700u);

  const std::string link = top + "/link";
  std::filesystem::create_directory_symlink(folder, link);
  EXPECT_FALSE(Server::create(*loop, job, "train", {link}));
  const std::string open = top + "/open";
  std::filesystem::create_directory(open);
  ::chmod(open.c_str(), 0755);
  const auto refused = Server::create(*loop, job, "train", {open});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.status().text().find("chmod 700 " + open), std::string_view::npos) << refused.status().text();
  EXPECT_TRUE(find_jobs({link, open}).empty());

  const auto next = Server::create(*loop, job, "train", {open, folder});
  ASSERT_TRUE(next) << "the next folder is taken";
  EXPECT_EQ((*next)->name(), "train-2");
}

TEST_F(ControlServer, IsFoundAndDeadSocketsAreRemoved) {
  const auto first = serve("train");
  const auto second = serve("other");
  const std::string dead = folder + "/dead.sock";
  {
    auto listener = os::UnixListener::listen(dead, os::SocketKind::stream, soon());
    ASSERT_TRUE(listener);
    std::filesystem::rename(dead, folder + "/moved");  // so that it does not go with its listener
  }
  std::filesystem::rename(folder + "/moved", dead);
  std::ofstream(folder + "/notes.txt") << "kept";
  const auto jobs = find_jobs({folder, top + "/missing"});
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0], (Entry{"other", second->path()}));
  EXPECT_EQ(jobs[1], (Entry{"train", first->path()}));
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(folder + "/notes.txt"));
}

TEST(ChooseJob, TakesANameItsBeginningOrTheOnlyOne) {
  const std::vector<Entry> jobs = {{"a1", "x"}, {"train", "y"}, {"train-2", "z"}};
  EXPECT_EQ(choose_job(jobs, "train")->path, "y") << "a whole name before the beginnings";
  EXPECT_EQ(choose_job(jobs, "a")->path, "x");
  EXPECT_EQ(choose_job({jobs[1]}, "")->path, "y");
  EXPECT_EQ(choose_job(jobs, "tr").status().text(),
            "'tr' is the beginning of several jobs; those that run are train, train-2");
  EXPECT_EQ(choose_job(jobs, "b").status().text(), "there is no job 'b'; those that run are a1, train, train-2");
  EXPECT_EQ(choose_job({jobs[0]}, "b").status().text(), "there is no job 'b'; the one that runs is a1");
  EXPECT_EQ(choose_job(jobs, "").status().text(), "several jobs run, name one: those that run are a1, train, train-2");
  EXPECT_EQ(choose_job({}, "b").status().text(), "no job runs on this machine");
}

}  // namespace
}  // namespace tutti::launch::control
