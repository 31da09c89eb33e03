// How vectors of each type are loaded, stored and combined; see simd.inl.

HWY_BEFORE_NAMESPACE();
namespace tutti::engine::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Memory is any alignment, so vectors are loaded and stored as bytes.
template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* memory) {
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(memory)));
}

// `kStream`: around the caches; the memory is aligned to the vector, which is a full one.
template <bool kStream, class D>
HWY_INLINE void store_bytes(D d, hn::Vec<D> value, std::byte* memory) {
  const hn::Repartition<std::uint8_t, D> bytes;
  (void)d;
  if constexpr (kStream) {
    hn::Stream(hn::BitCast(bytes, value), bytes, reinterpret_cast<std::uint8_t*>(memory));
  } else {
    hn::StoreU(hn::BitCast(bytes, value), bytes, reinterpret_cast<std::uint8_t*>(memory));
  }
}

// Types that are computed as they are stored.
template <class T>
struct PlainLanes {
  using Wide = T;
  using Bits = T;

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* memory) {
    return load_bytes(d, memory);
  }

  // What is stored, worked out once for all targets.
  template <class D>
  struct One {
    HWY_INLINE One(D /*tag*/, hn::Vec<D> from) : value(from) {}
    HWY_INLINE void store(D d, std::byte* memory) const { store_bytes<false>(d, value, memory); }
    hn::Vec<D> value;
  };
  template <class D>
  struct Four {
    HWY_INLINE Four(D /*tag*/, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, hn::Vec<D> e) : v0(a), v1(b), v2(c), v3(e) {}
    template <bool kStream>
    HWY_INLINE void store(D d, std::byte* memory) const {
      const std::size_t bytes = hn::Lanes(d) * sizeof(T);
      store_bytes<kStream>(d, v0, memory);
      store_bytes<kStream>(d, v1, memory + bytes);
      store_bytes<kStream>(d, v2, memory + 2 * bytes);
      store_bytes<kStream>(d, v3, memory + 3 * bytes);
    }
    hn::Vec<D> v0, v1, v2, v3;
  };
};

// 8- and 16-bit floats, computed as float32. D is the tag of the float32 vectors.
template <class Format>
struct NarrowLanes {
  using Wide = float;
  using Bits = typename Format::Bits;
  using C = CodecConstants<Format>;

  // Instructions that convert float16 with the right bits: NaNs aside, which are made canonical below.
  static constexpr bool kHasInstructions =
      std::is_same_v<Format, Float16Format> && (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3);

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* memory) {
    if constexpr (kHasInstructions) {
      const hn::Rebind<hwy::float16_t, D> halves;
      const hn::Rebind<Bits, D> patterns;
      return hn::PromoteTo(d, hn::BitCast(halves, load_bytes(patterns, memory)));
    } else {
      const hn::Rebind<Bits, D> patterns;
      const hn::Rebind<std::uint32_t, D> words;
      return decode(d, hn::PromoteTo(words, load_bytes(patterns, memory)));
    }
  }

  template <class D, class Words = hn::Rebind<std::uint32_t, D>>
  static HWY_INLINE hn::Vec<D> decode(D d, hn::Vec<Words> bits) {
    const Words words;
    if constexpr (C::kRebias == 0) {
      return hn::BitCast(d, hn::ShiftLeft<C::kShift>(bits));
    } else {
      const auto magnitude = hn::And(bits, hn::Set(words, C::kMagnitudes));
      const auto sign = hn::ShiftLeft<C::kSignShift>(hn::Xor(bits, magnitude));
      const auto shifted = hn::ShiftLeft<C::kShift>(magnitude);
      auto value = hn::Add(shifted, hn::Set(words, C::kRebias));
      if constexpr (C::kHasInfinity) {
        const auto is_special = hn::Gt(magnitude, hn::Set(words, Format::kInfinity - 1));
        value = hn::IfThenElse(is_special, hn::Add(value, hn::Set(words, C::kRebias)), value);
      } else {
        const auto is_nan = hn::Eq(magnitude, hn::Set(words, Format::kNan));
        value = hn::IfThenElse(is_nan, hn::Set(words, C::kFloatQuietNan), value);
      }
      const auto smallest_normal = hn::Set(words, C::kSmallestNormal);
      const auto subnormal =
          hn::Sub(hn::BitCast(d, hn::Add(shifted, smallest_normal)), hn::BitCast(d, smallest_normal));
      const auto is_subnormal = hn::Lt(magnitude, hn::Set(words, 1u << C::kMantissaBits));
      value = hn::IfThenElse(is_subnormal, hn::BitCast(words, subnormal), value);
      return hn::BitCast(d, hn::Or(value, sign));
    }
  }

  template <class D, class Patterns = hn::Rebind<Bits, D>>
  static HWY_INLINE hn::Vec<Patterns> encode(D d, hn::Vec<D> value) {
    const Patterns patterns;
    if constexpr (kHasInstructions) {
      const hn::Rebind<hwy::float16_t, D> halves;
      const auto nan = hn::BitCast(d, hn::Set(hn::Rebind<std::uint32_t, D>(), C::kFloatQuietNan));
      const auto canonical = hn::IfThenElse(hn::IsNaN(value), nan, value);
      return hn::BitCast(patterns, hn::DemoteTo(halves, canonical));
    } else {
      const hn::Rebind<std::uint32_t, D> words;
      const auto all = hn::BitCast(words, value);
      const auto magnitude = hn::And(all, hn::Set(words, 0x7fffffffu));
      const auto odd = hn::And(hn::ShiftRight<C::kShift>(magnitude), hn::Set(words, 1u));
      const auto rounding = hn::Set(words, C::kRoundingBelowHalf - C::kRebias);
      auto bits = hn::ShiftRight<C::kShift>(hn::Add(hn::Add(magnitude, rounding), odd));
      if constexpr (C::kRebias != 0) {
        bits = hn::Min(bits, hn::Set(words, C::kOverflow));
        const auto rounder = hn::Set(words, C::kSubnormalRounder);
        const auto rounded = hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, rounder));
        const auto subnormal = hn::Sub(hn::BitCast(words, rounded), rounder);
        bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(words, C::kSmallestNormal)), subnormal, bits);
      }
      bits = hn::Or(bits, hn::ShiftRight<C::kSignShift>(hn::Xor(all, magnitude)));
      const auto is_nan = hn::Gt(magnitude, hn::Set(words, C::kFloatInfinity));
      return hn::TruncateTo(patterns, hn::IfThenElse(is_nan, hn::Set(words, Format::kNan), bits));
    }
  }

  template <class D>
  struct One {
    using Patterns = hn::Rebind<Bits, D>;
    HWY_INLINE One(D d, hn::Vec<D> from) : value(encode(d, from)) {}
    HWY_INLINE void store(D /*tag*/, std::byte* memory) const { store_bytes<false>(Patterns(), value, memory); }
    hn::Vec<Patterns> value;
  };
  // Packed into full vectors, since only these can be streamed. (Combine is found by its arguments: Highway's scalar
  // target, for which this is never used, has none.)
  template <class D>
  struct Four {
    using Patterns = hn::Rebind<Bits, D>;
    using Pair = hn::Twice<Patterns>;
    HWY_INLINE Four(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, hn::Vec<D> e)
        : low(Combine(Pair(), encode(d, b), encode(d, a))), high(Combine(Pair(), encode(d, e), encode(d, c))) {}
    template <bool kStream>
    HWY_INLINE void store(D /*tag*/, std::byte* memory) const {
      if constexpr (sizeof(Bits) == 2) {
        store_bytes<kStream>(Pair(), low, memory);
        store_bytes<kStream>(Pair(), high, memory + hn::Lanes(Pair()) * sizeof(Bits));
      } else {
        const hn::Twice<Pair> full;
        store_bytes<kStream>(full, Combine(full, high, low), memory);
      }
    }
    hn::Vec<Pair> low, high;
  };
};

struct Add {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Add(a, b);
  }
};
struct Multiply {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Mul(a, b);
  }
};
// A NaN in `a` stays; one in `b` wins because it compares false.
struct Smaller {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
      return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
    } else {
      return hn::Min(a, b);
    }
  }
};
struct Larger {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
      return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
    } else {
      return hn::Max(a, b);
    }
  }
};

}  // namespace tutti::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
