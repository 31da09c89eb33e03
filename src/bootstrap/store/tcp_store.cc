#include "bootstrap/store/tcp_store.h"

#include <fmt/format.h>

#include <chrono>
#include <future>

#include "base/knobs.h"
#include "bootstrap/attachment.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/network/place.h"
#include "bootstrap/store/remote_store.h"
#include "bootstrap/store/store_client.h"
#include "os/clock.h"
#include "os/environment.h"

namespace tutti::bootstrap {
namespace {

// A server that lives answers within milliseconds; a network may be gone for a while before it comes back.
constexpr std::chrono::seconds kReplyWait{30};

Deadline later(Deadline deadline, std::chrono::nanoseconds wait) { return Deadline::after(deadline.at, wait); }

class TcpAsker final : public Asker {
 public:
  TcpAsker(std::unique_ptr<rpc::Courier> own, rpc::Courier& courier) : own_(std::move(own)), courier_(courier) {}
  Status begin(const Contact& server, Deadline deadline);

  Result<Reply> ask(const Request& request, Deadline deadline) override {
    const Deadline now{os::now()};
    const Deadline until = request.kind == RequestKind::wait && deadline.at > now.at ? deadline : now;
    return ask(request, {.wait = until, .reply = later(until, kReplyWait)});
  }
  void remove() noexcept override {}  // nothing lies anywhere

 private:
  Result<Reply> ask(const Request& request, const StoreClient::Patience& patience);

  std::unique_ptr<rpc::Courier> own_;  // empty: the job's is used
  rpc::Courier& courier_;
  std::unique_ptr<Attachment<StoreClient>> client_;  // goes before the courier
};

Status TcpAsker::begin(const Contact& server, Deadline deadline) {
  TUTTI_ASSIGN(client_, Attachment<StoreClient>::create(courier_, kStoreService, [&](World& world) {
                 return std::make_unique<StoreClient>(world, server);
               }));
  // Any answer shows that the store is there.
  return ask({.kind = RequestKind::get, .key = "is anybody there"}, {.wait = {}, .reply = deadline}).status();
}

Result<Reply> TcpAsker::ask(const Request& request, const StoreClient::Patience& patience) {
  std::promise<Result<Reply>> promise;
  auto future = promise.get_future();
  courier_.post([&] {
    client_->actor().ask(request, patience, [&](Result<Reply> result) { promise.set_value(std::move(result)); });
  });
  return future.get();
}

Result<std::unique_ptr<Store>> open(std::unique_ptr<rpc::Courier> own, rpc::Courier& courier, const Contact& server,
                                    Deadline deadline) {
  auto asker = std::make_unique<TcpAsker>(std::move(own), courier);
  if (const Status status = asker->begin(server, deadline); !status) return status.while_doing("opening a store");
  return create_remote_store(std::move(asker));
}

}  // namespace

Result<std::unique_ptr<Store>> open_tcp_store(const MeetingAddress& address, Deadline deadline) {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  TUTTI_ASSIGN(const Place place, find_place(knobs));
  rpc::CourierOptions options{.secret = address.secret,
                              .encryption = address.is_encrypted ? rpc::Encryption::on : rpc::Encryption::off,
                              .listen = place.listen};
  options.control.silence_max = std::chrono::duration_cast<std::chrono::milliseconds>(knobs.silence());
  TUTTI_ASSIGN(auto courier, rpc::Courier::start(options));
  rpc::Courier& used = *courier;
  return open(std::move(courier), used, address.contact, deadline);
}

Result<std::unique_ptr<Store>> open_tcp_store(rpc::Courier& courier, const Contact& server, Deadline deadline) {
  return open(nullptr, courier, server, deadline);
}

}  // namespace tutti::bootstrap
