// The storage type of IEEE half precision and conversions on the host, which round to the nearest even.
#pragma once

#include <stdint.h>
#include <string.h>

typedef struct {
  unsigned short x;
} __half_raw;

static inline unsigned short __tutti_half_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (unsigned short)0x7fffu;  // one NaN for all
  if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal or zero: adding 0.5 leaves the bits of the result at the end
    float shifted;
    memcpy(&shifted, &magnitude, sizeof(shifted));
    shifted += 0.5f;
    memcpy(&bits, &shifted, sizeof(bits));
    return (unsigned short)(sign | (bits - 0x3f000000u));
  }
  return (unsigned short)(sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13));
}

static inline float __tutti_float_of_half(unsigned short half) {
  const uint32_t sign = ((uint32_t)half & 0x8000u) << 16;
  const uint32_t magnitude = (uint32_t)half & 0x7fffu;
  uint32_t bits;
  float value;
  if (magnitude < 0x0400u) {
    value = (float)magnitude * (1.0f / 16777216.0f);
    memcpy(&bits, &value, sizeof(bits));
    bits |= sign;
  } else if (magnitude > 0x7c00u) {
    bits = 0x7fffffffu;
  } else {
    bits = sign | ((magnitude << 13) + (magnitude >= 0x7c00u ? 0x70000000u : 0x38000000u));
  }
  memcpy(&value, &bits, sizeof(value));
  return value;
}

#if defined(__cplusplus)
struct __half {
  unsigned short __x;
  __half() = default;
  constexpr __half(const __half_raw& raw) : __x(raw.x) {}
  __half(float value) : __x(__tutti_half_bits(value)) {}
  operator __half_raw() const { return __half_raw{__x}; }
  operator float() const { return __tutti_float_of_half(__x); }
};
#else
typedef struct {
  unsigned short __x;
} __half;
#endif
typedef __half half;

static inline __half __float2half(float value) {
  __half result;
  result.__x = __tutti_half_bits(value);
  return result;
}
static inline float __half2float(__half value) { return __tutti_float_of_half(value.__x); }
