#include "rpc/courier.h"

#include <fmt/format.h>

#include <future>
#include <utility>

#include "base/assert.h"
#include "os/clock.h"
#include "os/entropy.h"
#include "os/event_loop.h"
#include "os/thread.h"
#include "rpc/door.h"
#include "rpc/router.h"

namespace tutti::rpc {
namespace {

constexpr std::chrono::milliseconds kFlushTime(200);  // for what is queued when the courier ends
constexpr std::chrono::milliseconds kLookWhileDialling(20);

Result<std::uint64_t> draw() {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  TUTTI_TRY(os::fill_random(bytes));
  return load_number<std::uint64_t>(bytes);
}

Result<std::optional<os::TcpAddress>> local_address(const std::optional<std::string>& host) {
  if (!host) return std::optional<os::TcpAddress>();
  TUTTI_ASSIGN(const os::TcpAddress address, os::TcpAddress::of_host(*host, 0));
  return std::optional<os::TcpAddress>(address);
}

}  // namespace

// What the thread works on. Everything but the loop's post() and what never changes belongs to it.
class Courier::Core {
 public:
  static Result<std::unique_ptr<Core>> create(const CourierOptions& options);
  ~Core();

  Status open_door();
  Status start_thread();
  void enter(Greeted greeted);
  void run(const std::function<void()>& function);

  os::EventLoop& loop() { return *loop_; }
  Router& router() { return router_; }

  const CourierOptions options_;
  const Credentials credentials_;
  std::vector<std::string> addresses_;
  Counters counters_;
  DataHandler data_handler_;

 private:
  Core(const CourierOptions& options, Credentials credentials, const RouterOptions& router_options,
       std::unique_ptr<os::EventLoop> loop)
      : options_(options),
        credentials_(std::move(credentials)),
        loop_(std::move(loop)),
        router_(*loop_, credentials_, router_options, counters_),
        door_(*loop_, credentials_, {options.visitors_max, options.greeting_time}, counters_,
              [this](Greeted greeted) { enter(std::move(greeted)); }) {}

  std::unique_ptr<os::EventLoop> loop_;
  Router router_;
  Door door_;
  bool is_stopping_ = false;
  os::Thread thread_;
};

Result<std::unique_ptr<Courier::Core>> Courier::Core::create(const CourierOptions& options) {
  ActorId id = options.id;
  while (id.value == 0) {
    TUTTI_ASSIGN(id.value, draw());
  }
  TUTTI_ASSIGN(Credentials credentials, Credentials::create(options.secret, options.encryption, id));
  RouterOptions router;
  TUTTI_ASSIGN(router.connect_from, local_address(options.connect_from));
  router.tcp = options.control;
  router.connect_time = options.connect_time;
  router.queue_bytes_max = options.queue_bytes_max;
  TUTTI_ASSIGN(auto loop, os::EventLoop::create());
  return std::unique_ptr<Core>(new Core(options, std::move(credentials), router, std::move(loop)));
}

Status Courier::Core::open_door() {
  if (options_.listen.empty()) {
    TUTTI_ASSIGN(auto listener, os::TcpListener::listen_on_all(0, options_.control));
    TUTTI_TRY(door_.open(std::move(listener)));
  }
  // An address may have gone, or not be ready yet (IPv6 looks for duplicates first): the others do.
  Status first;
  bool has_any = false;
  for (const std::string& text : options_.listen) {
    TUTTI_ASSIGN(const auto address, os::TcpAddress::parse(text));
    auto listener = os::TcpListener::listen(address, options_.control);
    if (!listener) {
      if (first) first = listener.status();
      continue;
    }
    TUTTI_TRY(door_.open(*std::move(listener)));
    has_any = true;
  }
  if (!has_any && !first) return first;
  for (const os::TcpAddress& address : door_.addresses()) addresses_.push_back(address.text());
  router_.set_own_addresses(addresses_);
  return {};
}

Status Courier::Core::start_thread() {
  TUTTI_ASSIGN(thread_, os::Thread::start("tutti courier", [this] {
                 loop_->run_until([this] { return is_stopping_; }, Deadline::never());
                 // Nobody listens any more when the connections end: others see at once that this actor has ended.
                 door_.close();
                 router_.shut_down();
                 loop_->run_until([this] { return router_.is_drained(); }, Deadline::after(os::now(), kFlushTime));
               }));
  return {};
}

Courier::Core::~Core() {
  if (!thread_.is_joinable()) return;
  loop_->post([this] { is_stopping_ = true; });
  thread_.join();
}

void Courier::Core::run(const std::function<void()>& function) {
  if (loop_->is_in_loop()) return function();
  std::promise<void> done;
  loop_->post([&] {
    function();
    done.set_value();
  });
  done.get_future().wait();
}

void Courier::Core::enter(Greeted greeted) {
  if (greeted.peer.purpose == Purpose::control) return router_.adopt(std::move(greeted));
  if (!data_handler_) {
    ++counters_.unwanted_data;
    return;
  }
  greeted.conduit.set_options(options_.data);
  data_handler_(greeted.peer.id, std::move(greeted.announcement), std::move(greeted.conduit));
}

namespace {

// The world of one service.
class ServiceWorld final : public World {
 public:
  using Run = std::function<void(const std::function<void()>&)>;
  ServiceWorld(os::EventLoop& loop, Router& router, Run run, Service service, Actor& actor)
      : loop_(loop), router_(router), run_(std::move(run)), service_(service), actor_(actor) {}
  ~ServiceWorld() override {
    run_([this] {
      loop_.cancel(timer_);
      router_.detach(service_);
    });
  }

  Time now() override { return os::now(); }

  std::uint64_t random() override {
    const auto number = draw();
    TUTTI_ASSERT(number.is_ok(), "the kernel has given random bytes when the courier began");
    return *number;
  }

  void send(const Contact& to, std::vector<std::byte> message) override {
    check_thread();
    router_.send(service_, to, std::move(message));
  }

  void wake_at(Time time) override {
    check_thread();
    loop_.cancel(timer_);
    timer_ = loop_.call_at(time, [this] {
      timer_ = {};
      actor_.wake();
    });
  }

  void forget(ActorId actor) override {
    check_thread();
    router_.forget(service_, actor);
  }

 private:
  void check_thread() const { TUTTI_ASSERT(loop_.is_in_loop(), "a world belongs to the thread of its courier"); }

  os::EventLoop& loop_;
  Router& router_;
  Run run_;
  Service service_;
  Actor& actor_;
  os::EventLoop::Timer timer_ = {};
};

}  // namespace

Courier::Courier(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Courier::~Courier() = default;

Result<std::unique_ptr<Courier>> Courier::start(const CourierOptions& options) {
  TUTTI_ASSIGN(auto core, Core::create(options));
  TUTTI_TRY(core->open_door());
  TUTTI_TRY(core->start_thread());
  return std::unique_ptr<Courier>(new Courier(std::move(core)));
}

ActorId Courier::id() const { return core_->credentials_.id; }
const std::vector<std::string>& Courier::addresses() const { return core_->addresses_; }

void Courier::post(std::function<void()> function) { core_->loop().post(std::move(function)); }
void Courier::run(const std::function<void()>& function) { core_->run(function); }

Result<std::unique_ptr<World>> Courier::attach(Service service, Actor& actor) {
  bool is_attached = false;
  run([&] { is_attached = core_->router().attach(service, actor); });
  if (!is_attached)
    return Status(Code::invalid_usage, fmt::format("service {} already has an actor in this process", service));
  return std::unique_ptr<World>(std::make_unique<ServiceWorld>(
      core_->loop(), core_->router(), [core = core_.get()](const auto& function) { core->run(function); }, service,
      actor));
}

Result<Conduit> Courier::connect_data(const Contact& to, const DataCall& call, Deadline deadline) {
  TUTTI_ASSERT(!core_->loop().is_in_loop(), "the courier's thread must not wait");
  if (call.announcement.size() > kAnnouncementBytesMax)
    return invalid_argument(fmt::format("the announcement of a data connection has {} bytes; at most {} are possible",
                                        call.announcement.size(), kAnnouncementBytesMax));
  TUTTI_ASSIGN(const auto from, local_address(call.from ? call.from : core_->options_.connect_from));
  TUTTI_ASSIGN(const auto loop, os::EventLoop::create());
  std::optional<Result<Greeted>> result;
  Dial dial(*loop, core_->credentials_, {to, Purpose::data, call.announcement, from, core_->options_.data, deadline},
            [&](Result<Greeted> outcome) { result.emplace(std::move(outcome)); });
  while (!result && (!call.is_wanted || call.is_wanted())) {
    loop->run_until([&] { return result.has_value(); }, Deadline::after(os::now(), kLookWhileDialling));
  }
  if (!result) return Status(Code::aborted, "the connection is not wanted any more", Scope::connection);
  if (!*result) return result->status().while_doing(fmt::format("connecting to actor {:016x}", to.id.value));
  return std::move((*result)->conduit);
}

void Courier::on_data(DataHandler handler) {
  run([&] { core_->data_handler_ = std::move(handler); });
}

Counters Courier::counters() {
  Counters counters;
  run([&] { counters = core_->counters_; });
  return counters;
}

}  // namespace tutti::rpc
