#include "bootstrap/env/pmix.h"

#include <fmt/format.h>

#if defined(TUTTI_HAS_PMIX)

#include <dlfcn.h>
#include <pmix.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <utility>

#include "os/clock.h"

namespace tutti::bootstrap {
namespace {

constexpr const char* kName = "libpmix.so.2";
constexpr const char* kKey = "tutti.identifier";
constexpr std::chrono::milliseconds kLook(100);  // whether the deadline has passed

// Each has the name that it has there, without its prefix.
struct PmixLibrary {
  decltype(&::PMIx_Init) init = nullptr;
  decltype(&::PMIx_Finalize) finalize = nullptr;
  decltype(&::PMIx_Put) put = nullptr;
  decltype(&::PMIx_Commit) commit = nullptr;
  decltype(&::PMIx_Fence_nb) fence = nullptr;
  decltype(&::PMIx_Get_nb) get = nullptr;
  decltype(&::PMIx_Error_string) error_string = nullptr;
};

template <class Function>
bool find(void* handle, Function*& target, const char* name) {
  target = reinterpret_cast<Function*>(dlsym(handle, name));
  return target != nullptr;
}

// Never let go: it has a thread of its own. An MPI of this process that has loaded it shares it.
Result<PmixLibrary> load() {
  void* const handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return Status(Code::unsupported, fmt::format("the launcher serves PMIx, but its library is not here ({}); install "
                                                 "libpmix2",
                                                 why != nullptr ? why : kName));
  }
  PmixLibrary library;
  const bool is_complete = find(handle, library.init, "PMIx_Init") && find(handle, library.finalize, "PMIx_Finalize") &&
                           find(handle, library.put, "PMIx_Put") && find(handle, library.commit, "PMIx_Commit") &&
                           find(handle, library.fence, "PMIx_Fence_nb") && find(handle, library.get, "PMIx_Get_nb") &&
                           find(handle, library.error_string, "PMIx_Error_string");
  if (is_complete) return library;
  return Status(Code::unsupported, fmt::format("{} lacks functions of PMIx 3 and newer", kName));
}

Result<const PmixLibrary*> library_of_process() {
  static const Result<PmixLibrary> library = load();
  TUTTI_TRY(library.status());
  return &*library;
}

struct Answer {
  pmix_status_t status = PMIX_SUCCESS;
  std::string text = {};
};
using Promise = std::promise<Answer>;

// The thread of the library calls these, once, perhaps after nobody waits any more: the promise is theirs.
void take_end(pmix_status_t status, void* promise) {
  const std::unique_ptr<Promise> owned(static_cast<Promise*>(promise));
  owned->set_value({.status = status});
}
void take_value(pmix_status_t status, pmix_value_t* value, void* promise) {
  const std::unique_ptr<Promise> owned(static_cast<Promise*>(promise));
  const bool has_text = status == PMIX_SUCCESS && value != nullptr && value->type == PMIX_STRING;
  owned->set_value({.status = status, .text = has_text ? value->data.string : ""});
}

pmix_info_t with_data_of_all() {
  pmix_info_t info{};
  std::strncpy(info.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
  return info;
}

class PmixSession {
 public:
  PmixSession(const PmixLibrary& library, Deadline deadline) : library_(library), deadline_(deadline) {}

  Status begin() { return checked("PMIx_Init", library_.init(&self_, nullptr, 0)); }
  Status end() { return checked("PMIx_Finalize", library_.finalize(nullptr, 0)); }

  Status put(std::string text) {
    pmix_value_t value{};
    value.type = PMIX_STRING;
    value.data.string = text.data();
    TUTTI_TRY(checked("PMIx_Put", library_.put(PMIX_GLOBAL, kKey, &value)));
    return checked("PMIx_Commit", library_.commit());
  }

  Status fence() {
    const pmix_info_t info = with_data_of_all();
    return await("PMIx_Fence", [&](void* promise) { return library_.fence(nullptr, 0, &info, 1, take_end, promise); })
        .status();
  }

  Result<std::string> get_of_rank_0() {
    pmix_proc_t first = self_;
    first.rank = 0;
    return await("PMIx_Get",
                 [&](void* promise) { return library_.get(&first, kKey, nullptr, 0, take_value, promise); });
  }

 private:
  Status checked(std::string_view call, pmix_status_t status) const {
    if (status == PMIX_SUCCESS) return {};
    return {Code::network, fmt::format("{} of the launcher's PMIx failed: {}", call, library_.error_string(status))};
  }

  // `call` takes the promise if it succeeds.
  template <class Call>
  Result<std::string> await(std::string_view name, const Call& call) {
    auto promise = std::make_unique<Promise>();
    auto future = promise->get_future();
    TUTTI_TRY(checked(name, call(promise.get())));
    static_cast<void>(promise.release());
    while (future.wait_for(kLook) != std::future_status::ready) {
      if (!deadline_.has_passed(os::now())) continue;
      return Status(Code::timed_out, fmt::format("{} of the launcher's PMIx has not ended in time; have all processes "
                                                 "of the job come here?",
                                                 name));
    }
    Answer answer = future.get();
    TUTTI_TRY(checked(name, answer.status));
    return std::move(answer.text);
  }

  const PmixLibrary& library_;
  Deadline deadline_;
  pmix_proc_t self_ = {};
};

}  // namespace

Status validate_pmix() { return library_of_process().status(); }

Result<std::string> broadcast_by_pmix(Rank rank, std::string_view text, Deadline deadline) {
  TUTTI_ASSIGN(const PmixLibrary* library, library_of_process());
  PmixSession session(*library, deadline);
  TUTTI_TRY(session.begin());
  if (rank == 0) TUTTI_TRY(session.put(std::string(text)));
  TUTTI_TRY(session.fence());
  std::string result(text);
  if (rank != 0) {
    TUTTI_ASSIGN(result, session.get_of_rank_0());
  }
  TUTTI_TRY(session.end());
  return result;
}

}  // namespace tutti::bootstrap

#else

namespace tutti::bootstrap {

Status validate_pmix() {
  return {Code::unsupported,
          "the launcher serves PMIx, which this build does not know; install libpmix-dev and configure it again"};
}

Result<std::string> broadcast_by_pmix(Rank, std::string_view, Deadline) { return validate_pmix(); }

}  // namespace tutti::bootstrap

#endif
