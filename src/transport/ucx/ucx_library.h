// What is used of UCX, found in its library when it is first needed: a process that does not need it does not load it.
#pragma once

#include <ucp/api/ucp.h>

#include "tutti/status.h"

namespace tutti::transport {

// Each has the name that it has there, without its prefix.
struct UcxLibrary {
  // Loaded once and never let go: it leaves hooks in a process.
  static Result<const UcxLibrary*> of_process();

  decltype(&::ucp_init_version) init_version = nullptr;
  decltype(&::ucp_cleanup) cleanup = nullptr;
  decltype(&::ucp_get_version_string) get_version_string = nullptr;
  decltype(&::ucp_worker_create) worker_create = nullptr;
  decltype(&::ucp_worker_destroy) worker_destroy = nullptr;
  decltype(&::ucp_worker_query) worker_query = nullptr;
  decltype(&::ucp_worker_get_address) worker_get_address = nullptr;
  decltype(&::ucp_worker_release_address) worker_release_address = nullptr;
  decltype(&::ucp_worker_set_am_recv_handler) worker_set_am_recv_handler = nullptr;
  decltype(&::ucp_worker_progress) worker_progress = nullptr;
  decltype(&::ucp_worker_get_efd) worker_get_efd = nullptr;
  decltype(&::ucp_worker_arm) worker_arm = nullptr;
  decltype(&::ucp_worker_signal) worker_signal = nullptr;
  decltype(&::ucp_ep_create) ep_create = nullptr;
  decltype(&::ucp_ep_flush_nbx) ep_flush_nbx = nullptr;
  decltype(&::ucp_ep_close_nbx) ep_close_nbx = nullptr;
  decltype(&::ucp_am_send_nbx) am_send_nbx = nullptr;
  decltype(&::ucp_am_recv_data_nbx) am_recv_data_nbx = nullptr;
  decltype(&::ucp_request_check_status) request_check_status = nullptr;
  decltype(&::ucp_request_free) request_free = nullptr;
  decltype(&::ucs_status_string) status_string = nullptr;
};

}  // namespace tutti::transport
