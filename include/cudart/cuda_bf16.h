// The storage type of bfloat16 and conversions on the host, which round to the nearest even.
#pragma once

#include <stdint.h>
#include <string.h>

typedef struct {
  unsigned short x;
} __nv_bfloat16_raw;

static inline unsigned short __tutti_bfloat16_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (unsigned short)0x7fffu;  // one NaN for all
  return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

static inline float __tutti_float_of_bfloat16(unsigned short half) {
  const uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

#if defined(__cplusplus)
struct __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  constexpr __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  __nv_bfloat16(float value) : __x(__tutti_bfloat16_bits(value)) {}
  operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
  operator float() const { return __tutti_float_of_bfloat16(__x); }
};
#else
typedef struct {
  unsigned short __x;
} __nv_bfloat16;
#endif
typedef __nv_bfloat16 nv_bfloat16;

static inline __nv_bfloat16 __float2bfloat16(float value) {
  __nv_bfloat16 result;
  result.__x = __tutti_bfloat16_bits(value);
  return result;
}
static inline float __bfloat162float(__nv_bfloat16 value) { return __tutti_float_of_bfloat16(value.__x); }
