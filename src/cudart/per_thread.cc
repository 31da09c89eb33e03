// The calls of programs whose default stream is that of the thread (CUDA_API_PER_THREAD_DEFAULT_STREAM).
#include "cudart/call.h"
#include "cudart/copies.h"

using namespace tutti::cudart;

namespace {

cudaStream_t own(cudaStream_t stream) { return stream == nullptr ? cudaStreamPerThread : stream; }

}  // namespace

extern "C" {

cudaError_t cudaMemcpy_ptds(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return call(
      __func__,
      [&] {
        return copy({dst, count, src, count, count}, kind, cudaStreamPerThread, When::now);
      },
      dst, src, count, kind);
}

cudaError_t cudaMemcpy2D_ptds(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                              cudaMemcpyKind kind) {
  return call(
      __func__,
      [&] {
        return copy({dst, dpitch, src, spitch, width, height}, kind, cudaStreamPerThread, When::now);
      },
      dst, dpitch, src, spitch, width, height, kind);
}

cudaError_t cudaMemset_ptds(void* data, int value, size_t count) {
  return call(
      __func__,
      [&] {
        return fill({data, count, value, count}, cudaStreamPerThread, When::now);
      },
      data, value, count);
}

cudaError_t cudaMemset2D_ptds(void* data, size_t pitch, int value, size_t width, size_t height) {
  return call(
      __func__,
      [&] {
        return fill({data, pitch, value, width, height}, cudaStreamPerThread, When::now);
      },
      data, pitch, value, width, height);
}

cudaError_t cudaMemcpyAsync_ptsz(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyAsync(dst, src, count, kind, own(stream));
}

cudaError_t cudaMemcpy2DAsync_ptsz(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                                   size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, own(stream));
}

cudaError_t cudaMemsetAsync_ptsz(void* data, int value, size_t count, cudaStream_t stream) {
  return cudaMemsetAsync(data, value, count, own(stream));
}

cudaError_t cudaMemset2DAsync_ptsz(void* data, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream) {
  return cudaMemset2DAsync(data, pitch, value, width, height, own(stream));
}

cudaError_t cudaMallocAsync_ptsz(void** place, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(place, bytes, own(stream));
}

cudaError_t cudaFreeAsync_ptsz(void* data, cudaStream_t stream) { return cudaFreeAsync(data, own(stream)); }

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) { return cudaStreamSynchronize(own(stream)); }

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return cudaStreamQuery(own(stream)); }

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return cudaStreamWaitEvent(own(stream), event, flags);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int* flags) {
  return cudaStreamGetFlags(own(stream), flags);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return cudaStreamGetPriority(own(stream), priority);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(own(stream), device);
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) {
  return cudaStreamGetId(own(stream), id);
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                       unsigned int flags) {
  return cudaStreamAddCallback(own(stream), callback, data, flags);
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return cudaLaunchHostFunc(own(stream), function, data);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) { return cudaEventRecord(event, own(stream)); }

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return cudaEventRecordWithFlags(event, own(stream), flags);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(own(stream), mode);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return cudaStreamEndCapture(own(stream), graph);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(own(stream), status);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                          cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                          const cudaGraphEdgeData** edges, size_t* dependency_count) {
  return cudaStreamGetCaptureInfo(own(stream), status, id, graph, dependencies, edges, dependency_count);
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t executable, cudaStream_t stream) {
  return cudaGraphUpload(executable, own(stream));
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t executable, cudaStream_t stream) {
  return cudaGraphLaunch(executable, own(stream));
}

}  // extern "C"
