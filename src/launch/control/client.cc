#include "launch/control/client.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <span>

#include "launch/control/folder.h"
#include "os/backoff.h"
#include "os/clock.h"

namespace tutti::launch::control {

namespace {

constexpr std::chrono::seconds kFolderPatience{1};  // others are in the folder for microseconds
constexpr std::size_t kNamesShown = 20;
constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

bool is_served(const std::string& path) {
  const auto socket = os::UnixSocket::try_connect(path, os::SocketKind::stream);
  return socket || socket.status().code() != Code::peer_lost;  // a full queue belongs to somebody
}

// Listening in its place fails where somebody has begun to listen in between, and removes the path when it ends.
void remove_stale(const std::string& path) {
  [[maybe_unused]] const auto listener =
      os::UnixListener::listen(path, os::SocketKind::stream, Deadline::after(os::now(), kFolderPatience));
}

void add_jobs_of(const std::string& folder, std::vector<Entry>& jobs) {
  if (!is_safe_folder(folder)) return;
  const std::unique_ptr<DIR, CloseFolder> entries(opendir(folder.c_str()));
  if (entries == nullptr) return;
  while (const dirent* each = readdir(entries.get())) {
    const std::string_view file = each->d_name;
    if (!file.ends_with(kSocketSuffix)) continue;
    const std::string_view name = file.substr(0, file.size() - kSocketSuffix.size());
    if (!validate_job_name(name)) continue;
    const std::string path = fmt::format("{}/{}", folder, file);
    if (is_served(path)) {
      jobs.push_back({std::string(name), path});
    } else {
      remove_stale(path);
    }
  }
}

std::string names_of(const std::vector<Entry>& jobs) {
  if (jobs.empty()) return "no job runs on this machine";
  std::vector<std::string> names;
  for (const Entry& job : jobs) names.push_back(job.name);
  const std::size_t left = names.size() > kNamesShown ? names.size() - kNamesShown : 0;
  names.resize(names.size() - left);
  return fmt::format("{} {}{}", jobs.size() == 1 ? "the one that runs is" : "those that run are",
                     fmt::join(names, ", "), left == 0 ? "" : fmt::format(" and {} more", left));
}

}  // namespace

Result<Client> Client::connect(const std::string& path, Deadline deadline) {
  os::Backoff backoff;
  while (true) {
    TUTTI_ASSIGN(auto socket, os::UnixSocket::try_connect(path, os::SocketKind::stream));
    if (socket) return Client(*std::move(socket));
    if (deadline.has_passed(os::now())) {
      return Status(Code::timed_out, fmt::format("the launcher behind '{}' takes no connection; is it stopped?", path));
    }
    backoff.pause(deadline);
  }
}

Status Client::send(const Request& request, Deadline deadline) {
  const std::string line = line_of(request);
  return socket_.send_all(std::as_bytes(std::span(line)), deadline);
}

Result<std::optional<Answer>> Client::try_receive() {
  while (true) {
    if (const std::size_t end = incoming_.find('\n'); end != std::string::npos) {
      TUTTI_ASSIGN(Answer answer, parse_answer(std::string_view(incoming_).substr(0, end), os::now()));
      incoming_.erase(0, end + 1);
      return std::optional<Answer>(std::move(answer));
    }
    if (incoming_.size() > kAnswerBytesMax) {
      return invalid_argument(fmt::format("the launcher's answer has more than {} bytes", kAnswerBytesMax));
    }
    const std::size_t before = incoming_.size();
    incoming_.resize(before + kChunkBytes);
    const auto received = socket_.try_receive(std::as_writable_bytes(std::span(incoming_).subspan(before)));
    incoming_.resize(before + (received ? *received : 0));
    if (!received) return received.status();
    if (*received == 0) return std::optional<Answer>();
  }
}

Result<Answer> Client::ask(const Request& request, Deadline deadline) {
  TUTTI_TRY(send(request, deadline));
  while (true) {
    TUTTI_ASSIGN(auto answer, try_receive());
    if (answer) {
      TUTTI_TRY(answer->failure);
      return *std::move(answer);
    }
    TUTTI_TRY(socket_.wait_readable(deadline));
  }
}

Status Client::wait_for_end(Deadline deadline) {
  std::array<std::byte, 256> ignored;
  while (true) {
    const auto received = socket_.try_receive(ignored);
    if (!received) return {};
    if (*received == 0) TUTTI_TRY(socket_.wait_readable(deadline));
  }
}

std::vector<Entry> find_jobs(const std::vector<std::string>& folders) {
  std::vector<Entry> jobs;
  for (const std::string& folder : folders) add_jobs_of(folder, jobs);
  std::ranges::sort(jobs, {}, [](const Entry& job) { return std::pair(job.name, job.path); });
  return jobs;
}

Result<Entry> choose_job(const std::vector<Entry>& jobs, std::string_view name) {
  std::vector<Entry> fitting;
  for (const Entry& job : jobs) {
    if (job.name == name) return job;
    if (job.name.starts_with(name)) fitting.push_back(job);
  }
  if (fitting.size() == 1) return fitting.front();
  if (jobs.empty()) return invalid_argument(names_of(jobs));
  if (name.empty()) return invalid_argument(fmt::format("several jobs run, name one: {}", names_of(jobs)));
  if (fitting.empty()) return invalid_argument(fmt::format("there is no job '{}'; {}", name, names_of(jobs)));
  return invalid_argument(fmt::format("'{}' is the beginning of several jobs; {}", name, names_of(fitting)));
}

}  // namespace tutti::launch::control
