// For tests: stores of every kind in a directory that goes away, and work in several processes.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "bootstrap/attachment.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/store.h"
#include "bootstrap/store/file_store.h"
#include "bootstrap/store/process_store.h"
#include "bootstrap/store/store_server.h"
#include "bootstrap/store/tcp_store.h"
#include "bootstrap/store/unix_store.h"
#include "os/clock.h"

namespace tutti::bootstrap {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  bool is_empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

inline Deadline soon(std::chrono::nanoseconds wait = std::chrono::seconds(30)) {
  return Deadline::after(os::now(), wait);
}
inline Deadline passed() { return {os::now()}; }

inline Bytes value_of(std::string_view text) {
  const auto bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

enum class Kind { process, file, unix_socket, tcp };
inline std::string name_of(Kind kind) {
  switch (kind) {
    case Kind::process: return "Process";
    case Kind::file: return "File";
    case Kind::unix_socket: return "Unix";
    case Kind::tcp: return "Tcp";
  }
  return "";
}

// A store at a port of this machine, without the meeting that a meeting point has beside it.
class TcpPlace {
 public:
  explicit TcpPlace(const StoreServer::Limits& limits = {}) {
    server_ = *Attachment<StoreServer>::create(
        *courier_, kStoreService, [&](World& world) { return std::make_unique<StoreServer>(world, limits); });
  }
  MeetingAddress address() const { return {.contact = courier_->contact(), .secret = secret_}; }
  rpc::Courier& courier() { return *courier_; }
  bool is_unused() {
    bool is_unused = false;
    courier_->run([&] { is_unused = server_->actor().is_unused(); });
    return is_unused;
  }

 private:
  const rpc::Secret secret_ = *rpc::Secret::create();
  std::unique_ptr<rpc::Courier> courier_ = *rpc::Courier::start({.secret = secret_, .listen = {"127.0.0.1:0"}});
  std::unique_ptr<Attachment<StoreServer>> server_;
};

// Where several open the same store: handles of their own where the kind has them. The first one serves.
class StorePlace {
 public:
  explicit StorePlace(Kind kind) : kind_(kind) {}

  Store& open() {
    if (kind_ != Kind::process || stores_.empty()) {
      auto store = create();
      if (!store) ADD_FAILURE() << store.status().text();
      if (!store) std::abort();
      stores_.push_back(*std::move(store));
    }
    return *stores_.back();
  }
  std::string address() const { return (kind_ == Kind::file ? "file:" : "unix:") + path(); }
  std::string path() const { return directory_ / "store"; }
  const TemporaryDirectory& directory() const { return directory_; }
  void close_all() {
    while (!stores_.empty()) stores_.pop_back();  // the one that serves goes last
  }
  ~StorePlace() { close_all(); }
  StorePlace(const StorePlace&) = delete;
  StorePlace& operator=(const StorePlace&) = delete;

 private:
  Result<std::unique_ptr<Store>> create() {
    switch (kind_) {
      case Kind::process: return create_process_store();
      case Kind::file: return open_file_store(path(), soon());
      case Kind::unix_socket:
        return stores_.empty() ? serve_unix_store(path(), soon()) : connect_unix_store(path(), soon());
      case Kind::tcp:
        if (!tcp_) tcp_.emplace();
        return open_tcp_store(tcp_->address(), soon());
    }
    return Status(Code::internal, "no such kind");
  }

  Kind kind_;
  TemporaryDirectory directory_;
  std::optional<TcpPlace> tcp_;  // outlives the stores
  std::vector<std::unique_ptr<Store>> stores_;
};

// Runs the work in that many processes and counts those that returned true. None outlives a minute.
inline int run_in_processes(int count, const std::function<bool(int)>& work) {
  std::vector<pid_t> children;
  for (int index = 0; index < count; ++index) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      ::_exit(work(index) ? 0 : 1);
    }
    children.push_back(child);
  }
  int succeeded = 0;
  for (const pid_t child : children) {
    int status = 0;
    if (::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) ++succeeded;
  }
  return succeeded;
}

}  // namespace tutti::bootstrap
