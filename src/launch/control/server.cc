#include "launch/control/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "launch/control/folder.h"
#include "os/clock.h"

namespace tutti::launch::control {

namespace {

constexpr std::chrono::seconds kFolderPatience{1};  // others are in the folder for microseconds
constexpr std::chrono::milliseconds kAcceptRest{100};
constexpr int kNamesakesMax = 100;

std::string numbered(std::string_view name, int number) {
  if (number == 1) return std::string(name);
  const std::string suffix = fmt::format("-{}", number);
  return std::string(name.substr(0, kJobNameBytesMax - suffix.size())) + suffix;
}

struct Place {
  os::UnixListener listener;
  std::string name;
  std::string path;
};

Result<Place> listen_in(const std::string& folder, std::string_view wished_name) {
  TUTTI_TRY(prepare_folder(folder));
  const Deadline deadline = Deadline::after(os::now(), kFolderPatience);
  for (int number = 1; number <= kNamesakesMax; ++number) {
    const std::string name = numbered(wished_name, number);
    const std::string path = fmt::format("{}/{}{}", folder, name, kSocketSuffix);
    auto listener = os::UnixListener::listen(path, os::SocketKind::stream, deadline);
    if (listener) return Place{*std::move(listener), name, path};
    if (listener.status().code() != Code::invalid_usage) return listener.status();  // not: somebody listens there
  }
  return Status(Code::invalid_usage,
                fmt::format("{} jobs of the name '{}' run already; choose another name", kNamesakesMax, wished_name));
}

}  // namespace

Result<std::unique_ptr<Server>> Server::create(os::EventLoop& loop, JobView& job, std::string_view wished_name,
                                               const std::vector<std::string>& folders) {
  TUTTI_TRY(validate_job_name(wished_name));
  Status failure = invalid_argument("there is no folder for the sockets of jobs");
  for (const std::string& folder : folders) {
    auto place = listen_in(folder, wished_name);
    if (!place) {
      failure = place.status();
      continue;
    }
    std::unique_ptr<Server> server(new Server(loop, job, std::move(place->listener)));
    server->name_ = place->name;
    server->path_ = place->path;
    TUTTI_ASSIGN(server->watch_,
                 loop.watch(server->listener_.descriptor(), os::kReadable, [raw = server.get()] { raw->accept(); }));
    return server;
  }
  return failure;
}

Server::Server(os::EventLoop& loop, JobView& job, os::UnixListener listener)
    : loop_(loop), job_(job), listener_(std::move(listener)), is_alive_(std::make_shared<bool>(true)) {}

Server::~Server() {
  *is_alive_ = false;
  loop_.unwatch(watch_);
  loop_.cancel(rest_);
  for (auto& [id, client] : clients_) loop_.unwatch(client.watch);
}

void Server::accept() {
  auto socket = listener_.try_accept();
  if (!socket) {  // no descriptors left: whoever waits stays in the queue
    loop_.change(watch_, 0);
    rest_ = loop_.call_at(Deadline::after(os::now(), kAcceptRest).at, [this] {
      rest_ = {};
      loop_.change(watch_, os::kReadable);
    });
    return;
  }
  if (!socket->has_value() || !may_ask(**socket)) return;
  const std::uint64_t id = next_id_++;
  Client& client = clients_.emplace(id, *std::move(*socket)).first->second;
  auto watch = loop_.watch(client.socket.descriptor(), os::kReadable, [this, id] { react(id); });
  if (!watch) {
    clients_.erase(id);
    return;
  }
  client.watch = *watch;
  if (clients_.size() <= kClientsMax) return;
  refuse(client, {Code::invalid_usage, fmt::format("{} clients watch job '{}' already", kClientsMax, name_)});
  advance(id);
}

bool Server::may_ask(const os::UnixSocket& socket) const {
  const auto peer = socket.peer();
  return peer && (peer->user == geteuid() || peer->user == 0);
}

// Called when the socket is ready. While samples are awaited only the end of the connection is announced.
void Server::react(std::uint64_t id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  if (found->second.is_answering) return remove(id);
  advance(id);
}

void Server::advance(std::uint64_t id) {
  Client& client = clients_.at(id);
  bool is_open = write(client);
  if (is_open && client.is_idle() && !client.has_request()) is_open = read(client);
  while (is_open && client.is_idle() && client.has_request()) {
    take_request(id, client);
    is_open = write(client);
  }
  if (is_open && client.is_idle() && client.incoming.size() > kRequestBytesMax) {
    refuse(client, invalid_argument(fmt::format("a request has at most {} bytes", kRequestBytesMax)));
    is_open = write(client);
  }
  if (!is_open) return remove(id);
  std::uint32_t events = client.is_answering ? 0 : os::kReadable;
  if (!client.outgoing.empty()) events = os::kWritable;
  loop_.change(client.watch, events);
}

// False: the connection is over.
bool Server::read(Client& client) {
  std::array<std::byte, kRequestBytesMax> space;
  const auto received = client.socket.try_receive(space);
  if (!received) return false;
  client.incoming.append(reinterpret_cast<const char*>(space.data()), *received);
  return true;
}

void Server::take_request(std::uint64_t id, Client& client) {
  const std::size_t end = client.incoming.find('\n');
  const auto request = parse_request(std::string_view(client.incoming).substr(0, end));
  client.incoming.erase(0, end + 1);
  if (!request) return refuse(client, request.status());
  take(id, client, *request);
}

void Server::take(std::uint64_t id, Client& client, const Request& request) {
  switch (request.ask) {
    case Ask::status: return answer(client, status_answer());
    case Ask::samples:
      client.is_answering = true;
      return job_.ask_samples([this, id, is_alive = is_alive_] {
        if (!*is_alive) return;
        const auto found = clients_.find(id);
        if (found == clients_.end()) return;
        found->second.is_answering = false;
        answer(found->second, status_answer());
        advance(id);
      });
    case Ask::stop: job_.stop(); return answer(client, {});
    case Ask::kill: job_.kill(); return answer(client, {});
    case Ask::signal: return answer(client, {.failure = job_.signal(request.signal, request.rank)});
  }
}

void Server::answer(Client& client, const Answer& answer) { client.outgoing = line_of(answer, os::now()); }

Answer Server::status_answer() const {
  Answer answer{.job = job_.status()};
  answer.job->name = name_;
  return answer;
}

void Server::refuse(Client& client, const Status& why) {
  answer(client, {.failure = why});
  client.is_closing = true;
}

// False: the connection is over.
bool Server::write(Client& client) {
  while (client.written < client.outgoing.size()) {
    const auto rest = std::span(client.outgoing).subspan(client.written);
    const auto sent = client.socket.try_send(std::as_bytes(rest));
    if (!sent) return false;
    if (*sent == 0) return true;
    client.written += *sent;
  }
  client.outgoing.clear();
  client.written = 0;
  return !client.is_closing;
}

void Server::remove(std::uint64_t id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  loop_.unwatch(found->second.watch);
  clients_.erase(found);
}

}  // namespace tutti::launch::control
