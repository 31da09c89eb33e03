// Who is connected with whom: brings messages of services to actors of other processes and theirs to ours.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/world.h"
#include "os/event_loop.h"
#include "rpc/counters.h"
#include "rpc/dial.h"
#include "rpc/link.h"
#include "tutti/status.h"

namespace tutti::rpc {

using Service = std::uint16_t;

struct RouterOptions {
  std::optional<os::TcpAddress> connect_from = {};
  os::TcpOptions tcp = {};
  std::chrono::nanoseconds connect_time = std::chrono::seconds(5);
  std::size_t queue_bytes_max = std::size_t{64} << 20;  // for one peer
};

// All on the thread of the loop. Actors are called from the loop, never from send() or forget().
class Router final : public Link::Owner {
 public:
  Router(os::EventLoop& loop, const Credentials& credentials, const RouterOptions& options, Counters& counters)
      : loop_(loop), credentials_(credentials), options_(options), counters_(counters) {}
  ~Router() override;

  void set_own_addresses(std::vector<std::string> addresses) { own_addresses_ = std::move(addresses); }
  bool attach(Service service, Actor& actor) { return actors_.emplace(service, &actor).second; }
  void detach(Service service);

  void send(Service service, const Contact& to, Bytes message);
  void forget(Service service, ActorId actor);
  void adopt(Greeted greeted);  // a control connection that another actor has made

  // Sends what is queued and ends all streams; nobody is called any more.
  void shut_down();
  bool is_drained() const;

 private:
  struct Peer {
    ActorId id;
    std::vector<std::string> addresses = {};  // the best that is known
    std::vector<std::unique_ptr<Link>> links = {};
    Link* sending = nullptr;  // one of them: all messages go the same way, in order
    std::uint32_t sending_epoch = 0;
    std::uint32_t newest_epoch = 0;  // that has come from the peer
    std::unique_ptr<Dial> dial = {};
    Status doubt = {};  // why the connection was lost whose peer is being looked for
    struct Queued {
      Service service;
      Bytes message;
    };
    std::deque<Queued> queue = {};  // while there is no link to send over
    std::size_t queued_bytes = 0;
    std::set<Service> services = {};  // that expect something of the peer, and hear of its loss
    std::set<Service> losing = {};    // that are going to hear of it: what they send before is lost
  };

  void take_frame(Link& link, Frame frame) override;
  void end_link(Link& link, const Status& why) override;

  Peer& peer_of(ActorId id);
  Peer* find_peer(ActorId id);
  void deliver(ActorId from, Service service, std::span<const std::byte> message);
  void enqueue(Peer& peer, Service service, Bytes message);
  void move_on(Peer& peer);
  bool choose_link(Peer& peer);
  void start_dial(Peer& peer);
  void end_dial(ActorId id, Result<Greeted> result);
  void add_link(Peer& peer, Greeted greeted);
  void introduce(Link& link);
  void take_addresses(Peer& peer, const Link& link, const Bytes& body);
  void order_links(Peer& peer);
  void say_goodbye(Peer& peer);
  void lose(Peer& peer, const Status& why);
  void tell_loss(Peer& peer, Code code, const std::string& why);
  void drop_links(Peer& peer);
  void drop_queue(Peer& peer);
  void bury(std::unique_ptr<Link> link);
  void erase_if_unused(ActorId id);
  void finish(Peer& peer);

  os::EventLoop& loop_;
  const Credentials& credentials_;
  RouterOptions options_;
  Counters& counters_;
  std::vector<std::string> own_addresses_;
  std::map<Service, Actor*> actors_;
  std::map<ActorId, Peer> peers_;              // nodes stay where they are
  std::vector<std::unique_ptr<Link>> graves_;  // links that have ended, perhaps during their own call
  std::uint32_t epoch_ = 0;                    // counts over all peers, so that no peer's ever goes back
  bool is_shutting_down_ = false;
};

}  // namespace tutti::rpc
