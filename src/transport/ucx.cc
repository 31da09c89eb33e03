#include "transport/ucx.h"

#ifdef TUTTI_HAS_UCX
#include "transport/ucx/ucx_library.h"
#include "transport/ucx/ucx_wire.h"
#include "transport/ucx/ucx_worker.h"
#endif

namespace tutti::transport {

#ifdef TUTTI_HAS_UCX

bool is_ucx_built() { return true; }

Status try_ucx() { return UcxLibrary::of_process().status(); }

std::string ucx_version() {
  const auto library = UcxLibrary::of_process();
  return library ? (*library)->get_version_string() : "";
}

Result<CreateUcxWire> open_ucx() {
  TUTTI_ASSIGN(const std::shared_ptr<UcxWorker> worker, UcxWorker::create());
  return CreateUcxWire([worker](const std::array<Remote*, kPorts>& ports) -> std::unique_ptr<ConduitWire> {
    return std::make_unique<UcxWire>(worker, ports);
  });
}

#else

bool is_ucx_built() { return false; }

Status try_ucx() { return {Code::unsupported, "this build has no UCX; install libucx-dev and build again"}; }

std::string ucx_version() { return ""; }

Result<CreateUcxWire> open_ucx() { return try_ucx(); }

#endif

}  // namespace tutti::transport
