// Calls that capture streams, and the graphs that come of it.
#include <fmt/format.h>

#include <utility>

#include "cudart/call.h"
#include "cudart/handles.h"
#include "cudart/queue.h"

namespace tutti::cudart {
namespace {

using device::Capture;
using device::CapturedWork;
using device::Replay;

// Never changes once it exists; shared with what was instantiated from it.
using Graphs = Handles<cudaGraph_t, const CapturedWork>;
using Executables = Handles<cudaGraphExec_t, Replay>;

Graphs& graphs() {
  static auto& all = *new Graphs;  // never destroyed: threads may call until the very end
  return all;
}

Executables& executables() {
  static auto& all = *new Executables;
  return all;
}

thread_local cudaStreamCaptureMode interaction_mode = cudaStreamCaptureModeGlobal;

Outcome mode_of(cudaStreamCaptureMode mode, Capture::Mode& result) {
  switch (mode) {
    case cudaStreamCaptureModeGlobal: result = Capture::Mode::global; return {};
    case cudaStreamCaptureModeThreadLocal: result = Capture::Mode::thread_local_only; return {};
    case cudaStreamCaptureModeRelaxed: result = Capture::Mode::relaxed; return {};
  }
  return invalid_value(fmt::format("{} is no mode of capture", static_cast<int>(mode)));
}

Outcome begin(cudaStream_t handle, cudaStreamCaptureMode wanted) {
  StreamPointer stream;
  Capture::Mode mode{};
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  TUTTI_CUDART_TRY(mode_of(wanted, mode));
  if (stream->kind() == device::HostStream::Kind::legacy)
    return {cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured; create one"};
  if (stream->recording() != nullptr) return {cudaErrorIllegalState, "the stream is being captured already"};
  Capture::begin(stream, mode);
  return {};
}

Outcome end(cudaStream_t handle, cudaGraph_t* graph) {
  StreamPointer stream;
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  if (graph == nullptr) return invalid_value("the place for the graph is null");
  *graph = nullptr;
  const auto recording = stream->recording();
  if (recording == nullptr) return {cudaErrorIllegalState, "the stream is not being captured"};
  Capture& capture = recording->capture();
  if (recording->lane() != 0) {
    capture.invalidate();
    return {cudaErrorStreamCaptureUnmatched, "the capture began on another stream"};
  }
  if (capture.mode() != Capture::Mode::relaxed && !capture.is_of_this_thread())
    return {cudaErrorStreamCaptureWrongThread, "another thread began the capture, in a mode that binds it to it"};
  CapturedWork work;
  switch (capture.end(work)) {
    case Capture::Outcome::complete: break;
    case Capture::Outcome::unjoined:
      return {cudaErrorStreamCaptureUnjoined, "a stream took part for whose work the first stream does not wait"};
    case Capture::Outcome::invalid:
      return {cudaErrorStreamCaptureInvalidated, "an earlier call has made the capture invalid"};
  }
  *graph = graphs().add(std::make_shared<const CapturedWork>(std::move(work)));
  return {};
}

Outcome status_of(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id) {
  StreamPointer stream;
  if (status == nullptr) return invalid_value("the place for the status is null");
  TUTTI_CUDART_TRY(find_stream(handle, stream));
  const auto recording = stream->recording();
  *status = cudaStreamCaptureStatusNone;
  if (recording == nullptr) return {};
  Capture& capture = recording->capture();
  *status = capture.is_valid() ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
  if (id != nullptr) *id = capture.id();
  return {};
}

Outcome exchange_mode(cudaStreamCaptureMode* mode) {
  Capture::Mode checked{};
  if (mode == nullptr) return invalid_value("the mode is null");
  TUTTI_CUDART_TRY(mode_of(*mode, checked));
  std::swap(*mode, interaction_mode);
  return {};
}

Outcome unknown(const char* what, const void* handle) {
  return invalid_value(fmt::format("{} {} was destroyed or never created", what, fmt::ptr(handle)));
}

Outcome create(cudaGraph_t* place, unsigned flags) {
  if (place == nullptr || flags != 0) return invalid_value("the place for the graph is null, or flags are not 0");
  *place = graphs().add(std::make_shared<const CapturedWork>());
  return {};
}

Outcome list_nodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  const auto graph = graphs().find(handle);
  if (graph == nullptr) return unknown("graph", handle);
  if (count == nullptr) return invalid_value("the place for the number of nodes is null");
  const std::size_t there = graph->task_count();
  if (nodes != nullptr) {
    // Names for nodes: nothing can be asked about them.
    for (std::size_t i = 0; i < *count; ++i)
      nodes[i] =
          i < there ? reinterpret_cast<cudaGraphNode_t>(reinterpret_cast<std::uintptr_t>(handle) + i + 1) : nullptr;
  }
  *count = there;
  return {};
}

Outcome instantiate(cudaGraphExec_t* place, cudaGraph_t handle, unsigned long long flags) {
  if (place == nullptr) return invalid_value("the place for the executable graph is null");
  constexpr unsigned long long kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                        cudaGraphInstantiateFlagUseNodePriority;
  if ((flags & ~kKnown) != 0) return invalid_value(fmt::format("{:#x} are no flags that virtual devices know", flags));
  auto graph = graphs().find(handle);
  if (graph == nullptr) return unknown("graph", handle);
  *place = executables().add(std::make_shared<Replay>(std::move(graph)));
  return {};
}

Outcome launch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  StreamPointer stream;
  const auto replay = executables().find(handle);
  if (replay == nullptr) return unknown("executable graph", handle);
  TUTTI_CUDART_TRY(find_stream(stream_handle, stream));
  TUTTI_CUDART_TRY(check_not_captured(stream));
  replay->launch(device::Devices::of_process().order_of(stream));
  return {};
}

Outcome upload(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  StreamPointer stream;
  if (executables().find(handle) == nullptr) return unknown("executable graph", handle);
  return find_stream(stream_handle, stream);
}

}  // namespace
}  // namespace tutti::cudart

using namespace tutti::cudart;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call(
      __func__, [&] { return begin(stream, mode); }, stream, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call(
      __func__, [&] { return end(stream, graph); }, stream, graph);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call(
      __func__, [&] { return status_of(stream, status, nullptr); }, stream, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* dependency_count) {
  if (graph != nullptr) *graph = nullptr;
  if (dependencies != nullptr) *dependencies = nullptr;
  if (edges != nullptr) *edges = nullptr;
  if (dependency_count != nullptr) *dependency_count = 0;
  return call(
      __func__, [&] { return status_of(stream, status, id); }, stream, status);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call(
      __func__, [&] { return exchange_mode(mode); }, mode);
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return call(
      __func__, [&] { return create(graph, flags); }, graph, flags);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call(
      __func__, [&] { return graphs().remove(graph) ? Outcome() : unknown("graph", graph); }, graph);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call(
      __func__, [&] { return list_nodes(graph, nodes, count); }, graph, nodes, count);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return call(
      __func__, [&] { return instantiate(executable, graph, flags); }, executable, graph, flags);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return call(
      __func__, [&] { return instantiate(executable, graph, flags); }, executable, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return call(
      __func__, [&] { return upload(executable, stream); }, executable, stream);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return call(
      __func__, [&] { return launch(executable, stream); }, executable, stream);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call(
      __func__, [&] { return executables().remove(executable) ? Outcome() : unknown("executable graph", executable); },
      executable);
}

}  // extern "C"
