#include "transport/ucx/ucx_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "os/clock.h"

namespace tutti::transport {

namespace {

constexpr unsigned kMessageId = 0;
// Long enough for what is on its way to arrive; another side that does nothing must not hold this one up.
constexpr std::chrono::milliseconds kPatience(100);
// Data of this size is announced first and then goes straight to its place; below, one copy costs less than the
// question.
constexpr std::size_t kAnnouncedBytes = 32 << 10;

}  // namespace

Result<std::shared_ptr<UcxWorker>> UcxWorker::create() {
  TUTTI_ASSIGN(const UcxLibrary* const ucx, UcxLibrary::of_process());
  // shared: by the wires, and by what makes them.
  auto worker = std::shared_ptr<UcxWorker>(new UcxWorker(*ucx));
  TUTTI_TRY(worker->open());
  return worker;
}

UcxWorker::~UcxWorker() { destroy(); }

Status UcxWorker::status_of(ucs_status_t status, const char* doing) const {
  if (status == UCS_OK) return {};
  const Code code = status == UCS_ERR_NO_MEMORY ? Code::out_of_memory : Code::network;
  return {code,
          fmt::format("UCX: {} while {}; UCX_LOG_LEVEL=info makes it say more", ucx_.status_string(status), doing),
          Scope::communicator};
}

Status UcxWorker::open() {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  // Without a configuration of ours it reads UCX_* from the environment.
  TUTTI_TRY(status_of(ucx_.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, nullptr, &context_), "starting"));
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  TUTTI_TRY(status_of(ucx_.worker_create(context_, &worker, &worker_), "making a worker"));
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
  TUTTI_TRY(status_of(ucx_.worker_query(worker_, &attributes), "asking for limits"));
  head_bytes_max_ = attributes.max_am_header;
  TUTTI_TRY(status_of(ucx_.worker_get_efd(worker_, &descriptor_), "asking for a descriptor to wait on"));
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  TUTTI_TRY(status_of(ucx_.worker_get_address(worker_, &address, &bytes), "asking for its address"));
  const auto* const begin = reinterpret_cast<const std::byte*>(address);
  address_.assign(begin, begin + bytes);
  ucx_.worker_release_address(worker_, address);
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessageId;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = on_message;
  handler.arg = this;
  return status_of(ucx_.worker_set_am_recv_handler(worker_, &handler), "setting a handler");
}

Result<UcxEndpoint*> UcxWorker::connect(std::span<const std::byte> address, UcxClient& client) {
  if (worker_ == nullptr) return Status(Code::aborted, "the UCX worker has ended");
  UcxEndpoint& endpoint = endpoints_.emplace_back(UcxEndpoint{.client = &client, .worker = this});
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;  // without it UCX ends the process where the other side ends
  params.err_handler.cb = on_error;
  params.err_handler.arg = &endpoint;
  ucs_status_t status = ucx_.ep_create(worker_, &params, &endpoint.handle);
  if (status == UCS_ERR_UNREACHABLE) {
    // Shared memory tells nothing of the other side, and has no error to end a process for.
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
    status = ucx_.ep_create(worker_, &params, &endpoint.handle);
    endpoint.can_force = false;
  }
  TUTTI_TRY(status_of(status, "connecting"));
  return &endpoint;
}

UcxFlight& UcxWorker::create_flight(UcxClient& client) {
  if (idle_.empty()) {
    UcxFlight& added = flights_.emplace_back();
    added.worker = this;
    idle_.push_back(&added);
  }
  UcxFlight& flight = *idle_.back();
  idle_.pop_back();
  flight.client = &client;
  flight.is_incoming = flight.touches_caller = false;
  flight.header = {};
  flight.head.clear();
  flight.kept.clear();
  flight.pieces.clear();
  return flight;
}

void UcxWorker::end(UcxFlight& flight, const Status& status) {
  flight.is_under_way = false;
  if (flight.client != nullptr) flight.client->end(flight, status);
  flight.client = nullptr;
  idle_.push_back(&flight);
}

void UcxWorker::send(UcxEndpoint& endpoint, UcxFlight& flight) {
  if (endpoint.handle == nullptr) return end(flight, Status(Code::aborted, "the UCX endpoint is closed"));
  std::size_t bytes = 0;
  for (const ucp_dt_iov_t& piece : flight.pieces) bytes += piece.length;
  const bool is_one = flight.pieces.size() == 1;
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS;
  param.cb.send = on_sent;
  param.user_data = &flight;
  param.datatype = is_one ? ucp_dt_make_contig(1) : ucp_dt_make_iov();
  if (!flight.touches_caller) {
    param.flags = UCP_AM_SEND_FLAG_EAGER;
  } else if (bytes >= kAnnouncedBytes) {
    param.flags = UCP_AM_SEND_FLAG_RNDV;
  }
  flight.is_under_way = true;
  const ucs_status_ptr_t request = ucx_.am_send_nbx(endpoint.handle, kMessageId, flight.head.data(), flight.head.size(),
                                                    is_one ? flight.pieces[0].buffer : flight.pieces.data(),
                                                    is_one ? bytes : flight.pieces.size(), &param);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) return;
  end(flight, status_of(request == nullptr ? UCS_OK : UCS_PTR_STATUS(request), "sending"));
}

void UcxWorker::receive(UcxFlight& flight, const UcxMessage& message) {
  flight.is_incoming = true;
  if (!message.is_announced) {
    const auto* data = static_cast<const std::byte*>(message.data);
    for (const ucp_dt_iov_t& piece : flight.pieces) {
      std::memcpy(piece.buffer, data, piece.length);
      data += piece.length;
    }
    return end(flight, {});
  }
  const bool is_one = flight.pieces.size() == 1;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
  param.cb.recv_am = on_received;
  param.user_data = &flight;
  param.datatype = is_one ? ucp_dt_make_contig(1) : ucp_dt_make_iov();
  flight.is_under_way = true;
  const ucs_status_ptr_t request =
      ucx_.am_recv_data_nbx(worker_, message.data, is_one ? flight.pieces[0].buffer : flight.pieces.data(),
                            is_one ? message.bytes : flight.pieces.size(), &param);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) return;
  end(flight, status_of(request == nullptr ? UCS_OK : UCS_PTR_STATUS(request), "receiving"));
}

void UcxWorker::on_sent(void* request, ucs_status_t status, void* flight) {
  auto& ended = *static_cast<UcxFlight*>(flight);
  UcxWorker& worker = *ended.worker;
  worker.end(ended, worker.status_of(status, "sending"));
  worker.ucx_.request_free(request);
}

void UcxWorker::on_received(void* request, ucs_status_t status, std::size_t, void* flight) {
  auto& ended = *static_cast<UcxFlight*>(flight);
  UcxWorker& worker = *ended.worker;
  worker.end(ended, worker.status_of(status, "receiving"));
  worker.ucx_.request_free(request);
}

void UcxWorker::on_error(void* endpoint, ucp_ep_h, ucs_status_t status) {
  const UcxEndpoint& lost = *static_cast<UcxEndpoint*>(endpoint);
  if (lost.client != nullptr) lost.client->lose(lost.worker->status_of(status, "talking to the other side"));
}

ucs_status_t UcxWorker::on_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                   std::size_t bytes, const ucp_am_recv_param_t* param) {
  UcxWorker& worker = *static_cast<UcxWorker*>(self);
  const std::span head(static_cast<const std::byte*>(header), header_bytes);
  UcxTicket ticket;
  auto client = worker.clients_.end();
  if (head.size() >= sizeof(ticket)) {
    std::memcpy(&ticket, head.data(), sizeof(ticket));
    client = worker.clients_.find(ticket);
  }
  if (client == worker.clients_.end()) {
    ++worker.strangers_;
    return UCS_OK;  // an announced one is answered as if it had been fetched
  }
  client->second->take({.head = head.subspan(sizeof(ticket)),
                        .data = data,
                        .bytes = bytes,
                        .is_announced = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0});
  return UCS_OK;
}

unsigned UcxWorker::progress() {
  if (worker_ == nullptr) return 0;
  is_armed_ = false;
  return ucx_.worker_progress(worker_);
}

int UcxWorker::armed_descriptor() {
  if (worker_ == nullptr || is_armed_) return descriptor_;
  if (ucx_.worker_arm(worker_) == UCS_OK) {
    is_armed_ = true;
  } else {
    ucx_.worker_signal(worker_);  // whoever waits must not, since there is something to do
  }
  return descriptor_;
}

Deadline UcxWorker::patience() {
  return Deadline::after(os::now(), is_impatient_ ? std::chrono::nanoseconds(0) : kPatience);
}

void UcxWorker::await(ucs_status_ptr_t request) {
  if (request == nullptr || UCS_PTR_IS_ERR(request)) return;
  for (const Deadline deadline = patience(); ucx_.request_check_status(request) == UCS_INPROGRESS; progress()) {
    if (!deadline.has_passed(os::now())) continue;
    is_impatient_ = true;
    break;
  }
  ucx_.request_free(request);
}

void UcxWorker::flush(UcxEndpoint& endpoint) {
  if (endpoint.handle == nullptr) return;
  const ucp_request_param_t param{};
  await(ucx_.ep_flush_nbx(endpoint.handle, &param));
}

bool UcxWorker::has_flights(const UcxClient& client, bool of_caller_only) const {
  return std::any_of(flights_.begin(), flights_.end(), [&](const UcxFlight& flight) {
    return flight.is_under_way && flight.client == &client && (flight.touches_caller || !of_caller_only);
  });
}

void UcxWorker::dismiss(const UcxTicket& ticket, UcxClient& client, UcxEndpoint* endpoint) noexcept {
  clients_.erase(ticket);
  if (endpoint != nullptr && endpoint->handle != nullptr) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = endpoint->can_force ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    endpoint->client = nullptr;
    // Messages under way end as cancelled, some of them a little later.
    await(ucx_.ep_close_nbx(std::exchange(endpoint->handle, nullptr), &param));
  }
  for (const Deadline deadline = patience(); has_flights(client, false) && worker_ != nullptr; progress()) {
    if (!deadline.has_passed(os::now())) continue;
    is_impatient_ = true;
    break;
  }
  if (has_flights(client, true)) destroy();
  for (UcxFlight& flight : flights_) {
    if (flight.client != &client) continue;
    flight.client = nullptr;
    if (!flight.is_under_way) idle_.push_back(&flight);  // it was never sent
  }
}

void UcxWorker::destroy() noexcept {
  if (worker_ != nullptr) ucx_.worker_destroy(std::exchange(worker_, nullptr));
  descriptor_ = -1;
  if (context_ != nullptr) ucx_.cleanup(std::exchange(context_, nullptr));
  for (UcxEndpoint& endpoint : endpoints_) {
    if (endpoint.handle == nullptr) continue;
    endpoint.handle = nullptr;
    if (endpoint.client != nullptr) endpoint.client->lose(Status(Code::aborted, "the UCX worker has ended"));
  }
}

}  // namespace tutti::transport
