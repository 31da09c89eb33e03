#include "transport/ucx/ucx_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace tutti::transport {

namespace {

constexpr const char* kName = "libucp.so.0";

std::string last_error() {
  const char* const text = dlerror();
  return text != nullptr ? text : "no reason is known";
}

// Looks up one function after the other and remembers the first that is missing.
class Finder {
 public:
  explicit Finder(void* handle) : handle_(handle) {}

  template <class Function>
  void find(Function*& target, const char* name) {
    target = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (target == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

Result<UcxLibrary> load() {
  void* const handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    return Status(Code::unsupported, fmt::format("UCX is not here ({}); install libucx0", last_error()));
  }
  UcxLibrary library;
  Finder finder(handle);
  finder.find(library.init_version, "ucp_init_version");
  finder.find(library.cleanup, "ucp_cleanup");
  finder.find(library.get_version_string, "ucp_get_version_string");
  finder.find(library.worker_create, "ucp_worker_create");
  finder.find(library.worker_destroy, "ucp_worker_destroy");
  finder.find(library.worker_query, "ucp_worker_query");
  finder.find(library.worker_get_address, "ucp_worker_get_address");
  finder.find(library.worker_release_address, "ucp_worker_release_address");
  finder.find(library.worker_set_am_recv_handler, "ucp_worker_set_am_recv_handler");
  finder.find(library.worker_progress, "ucp_worker_progress");
  finder.find(library.worker_get_efd, "ucp_worker_get_efd");
  finder.find(library.worker_arm, "ucp_worker_arm");
  finder.find(library.worker_signal, "ucp_worker_signal");
  finder.find(library.ep_create, "ucp_ep_create");
  finder.find(library.ep_flush_nbx, "ucp_ep_flush_nbx");
  finder.find(library.ep_close_nbx, "ucp_ep_close_nbx");
  finder.find(library.am_send_nbx, "ucp_am_send_nbx");
  finder.find(library.am_recv_data_nbx, "ucp_am_recv_data_nbx");
  finder.find(library.request_check_status, "ucp_request_check_status");
  finder.find(library.request_free, "ucp_request_free");
  finder.find(library.status_string, "ucs_status_string");
  if (finder.missing().empty()) return library;
  return Status(Code::unsupported, fmt::format("{} has no {}; UCX 1.11 or newer is needed", kName, finder.missing()));
}

}  // namespace

Result<const UcxLibrary*> UcxLibrary::of_process() {
  static const Result<UcxLibrary> library = load();
  TUTTI_TRY(library.status());
  return &*library;
}

}  // namespace tutti::transport
