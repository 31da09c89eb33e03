// Prints what a header of the CUDA runtime says: compiled with ours and with NVIDIA's, since a program has only one.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <typeinfo>

namespace {

void print(const char* kind, const char* name, long long value) { std::printf("%s %s %lld\n", kind, name, value); }

template <class T>
long long number_of(T value) {
  return (long long)(value);  // NOLINT: numbers, enumerators and pointers alike
}

// The rounding of all kinds of numbers: both signs, subnormal, too large, halfway, not a number.
void print_conversions() {
  unsigned bits = 1;
  for (int i = 0; i < 20000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    // Halves are dense near 1: every other value lies there, on or beside the middle of two of them.
    if (i % 2 == 0) value = static_cast<float>(static_cast<int>(bits >> 8)) / static_cast<float>(1 << (bits % 31));
    const __half half = __float2half(value);
    const __nv_bfloat16 bfloat = __float2bfloat16(value);
    unsigned short raw[2];
    std::memcpy(&raw[0], &half, 2);
    std::memcpy(&raw[1], &bfloat, 2);
    unsigned back[2];
    const float floats[2] = {__half2float(half), __bfloat162float(bfloat)};
    std::memcpy(back, floats, sizeof(back));
    std::printf("rounded %08x %04x %04x %08x %08x\n", bits, raw[0], raw[1], back[0], back[1]);
  }
}

}  // namespace

int main() {
#define VALUE(name) print("value", #name, number_of(name));
#define FUNCTION(call) std::printf("function %s %s\n", #call, typeid(decltype(&call)).name());
#define MEMBER(type, name)                                \
  print("offset", #type "." #name, offsetof(type, name)); \
  print("size", #type "." #name, sizeof(type::name));
#define SIZE(type) print("size", #type, sizeof(type));
#include "names.inl"
  MEMBER(cudaPointerAttributes, type)
  MEMBER(cudaPointerAttributes, device)
  MEMBER(cudaPointerAttributes, devicePointer)
  MEMBER(cudaPointerAttributes, hostPointer)
  MEMBER(cudaPointerAttributes, reserved)
  SIZE(cudaDeviceProp)
  SIZE(cudaPointerAttributes)
  SIZE(cudaUUID_t)
  SIZE(cudaIpcMemHandle_t)
  SIZE(cudaIpcEventHandle_t)
  SIZE(__half)
  SIZE(__nv_bfloat16)
  SIZE(__nv_fp8_e4m3)
  SIZE(__nv_fp8_e5m2)
  std::printf("types %s %s %s %s %s %s\n", typeid(cudaStream_t).name(), typeid(cudaEvent_t).name(),
              typeid(cudaGraph_t).name(), typeid(cudaGraphExec_t).name(), typeid(cudaHostFn_t).name(),
              typeid(cudaStreamCallback_t).name());
  print_conversions();
  return 0;
}
