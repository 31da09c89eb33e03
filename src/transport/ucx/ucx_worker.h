// One worker of UCX, which the wires of a rank share, and the messages that are under way through it.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "transport/frame.h"
#include "transport/ucx/ucx_library.h"
#include "tutti/status.h"

namespace tutti::transport {

// Every message begins with the ticket of whom it is for. UCX lets anybody send to a worker; tickets are drawn at
// random and told over authenticated connections only, so a message without one is a stranger's and is dropped.
struct UcxTicket {
  std::array<std::uint64_t, 2> words = {};
  auto operator<=>(const UcxTicket&) const = default;
};

// What has come: whole, or only announced, in which case UcxWorker::receive() fetches its data.
struct UcxMessage {
  std::span<const std::byte> head;  // after the ticket
  void* data = nullptr;
  std::size_t bytes = 0;
  bool is_announced = false;
};

class UcxClient;
class UcxWorker;

// A message that is being sent, or whose data is being fetched. UCX refers to it until it has ended.
struct UcxFlight {
  UcxWorker* worker = nullptr;
  UcxClient* client = nullptr;  // nullptr: nobody is left to hear of its end
  bool is_under_way = false;
  bool is_incoming = false;
  bool touches_caller = false;            // reads or writes memory that is not kept here
  FrameHeader header = {};                // of the part of a value that it carries; for its client
  std::vector<std::byte> head = {};       // with the ticket; of what is sent
  std::vector<std::byte> kept = {};       // data that was copied
  std::vector<ucp_dt_iov_t> pieces = {};  // where the data lies, or goes
};

// Who is told, during progress() and whatever else calls UCX; with the mutex held.
class UcxClient {
 public:
  virtual ~UcxClient() = default;
  virtual void take(const UcxMessage& message) = 0;
  virtual void end(const UcxFlight& flight, const Status& status) = 0;
  virtual void lose(const Status& why) = 0;  // nothing can be sent any more
};

struct UcxEndpoint {
  ucp_ep_h handle = nullptr;  // nullptr: closed
  UcxClient* client = nullptr;
  UcxWorker* worker = nullptr;
  bool can_force = true;  // to be closed whatever the other side does
};

// All of it, but create() and the destructor, with the mutex held: UCX wants one thread at a time.
class UcxWorker {
 public:
  static Result<std::shared_ptr<UcxWorker>> create();
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  // A mutex because every thread that waits on any channel of the rank moves what there is.
  std::mutex& mutex() { return mutex_; }

  std::span<const std::byte> address() const { return address_; }
  std::size_t head_bytes_max() const { return head_bytes_max_; }

  void admit(const UcxTicket& ticket, UcxClient& client) { clients_[ticket] = &client; }
  Result<UcxEndpoint*> connect(std::span<const std::byte> address, UcxClient& client);
  // To be filled in and given to send() or receive(), which have it from then on.
  UcxFlight& create_flight(UcxClient& client);
  void send(UcxEndpoint& endpoint, UcxFlight& flight);
  void receive(UcxFlight& flight, const UcxMessage& message);

  // How much was moved.
  unsigned progress();
  // Becomes readable when there is something to do; at once if there already is.
  int armed_descriptor();

  // What was sent reaches the other side, if it can in a short while: some networks need its help.
  void flush(UcxEndpoint& endpoint);
  // The client hears nothing more, and none of its memory is touched any more. Where UCX does not let go of it in a
  // short while, the worker ends for all its clients.
  void dismiss(const UcxTicket& ticket, UcxClient& client, UcxEndpoint* endpoint) noexcept;

  std::uint64_t strangers() const { return strangers_; }  // messages without a ticket

 private:
  explicit UcxWorker(const UcxLibrary& ucx) : ucx_(ucx) {}
  Status open();
  Status status_of(ucs_status_t status, const char* doing) const;
  // Until it is done or patience is over.
  void await(ucs_status_ptr_t request);
  Deadline patience();
  void end(UcxFlight& flight, const Status& status);
  bool has_flights(const UcxClient& client, bool of_caller_only) const;
  void destroy() noexcept;

  static ucs_status_t on_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param);
  static void on_sent(void* request, ucs_status_t status, void* flight);
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* flight);
  static void on_error(void* endpoint, ucp_ep_h handle, ucs_status_t status);

  const UcxLibrary& ucx_;
  std::mutex mutex_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;  // nullptr: it has ended
  int descriptor_ = -1;
  bool is_armed_ = false;
  bool is_impatient_ = false;  // somebody has waited in vain: others need not try
  std::size_t head_bytes_max_ = 0;
  std::uint64_t strangers_ = 0;
  std::vector<std::byte> address_;
  std::map<UcxTicket, UcxClient*> clients_;
  std::deque<UcxEndpoint> endpoints_;
  std::deque<UcxFlight> flights_;
  std::vector<UcxFlight*> idle_;
};

}  // namespace tutti::transport
