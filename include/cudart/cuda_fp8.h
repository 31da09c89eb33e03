// The storage types of 8-bit floating point, as NCCL programs hold them; without arithmetic.
#pragma once

typedef unsigned char __nv_fp8_storage_t;

#if defined(__cplusplus)
struct __nv_fp8_e4m3 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e4m3() = default;
};
struct __nv_fp8_e5m2 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e5m2() = default;
};
#else
typedef struct {
  __nv_fp8_storage_t __x;
} __nv_fp8_e4m3;
typedef struct {
  __nv_fp8_storage_t __x;
} __nv_fp8_e5m2;
#endif
