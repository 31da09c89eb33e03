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

// `kStream`: around the caches; the memory is aligned to the vector, which has at least 16 bytes.
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

// Lanes say how a vector of a type is loaded (`load`), and how it is stored once it is worked out for all targets
// (`One`). Four vectors at once (`load_four`, `Four`) are as much memory for every vector of it, but in an order of
// elements that suits the type.

// Types that are computed as they are stored.
template <class T>
struct PlainLanes {
  using Wide = T;
  using Bits = T;
  // Adds the same bits.
  using Unsigned = PlainLanes<std::conditional_t<hwy::IsFloat<T>(), T, hwy::MakeUnsigned<T>>>;

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* memory) {
    return load_bytes(d, memory);
  }
  template <class D, class V>
  static HWY_INLINE void load_four(D d, const std::byte* memory, V& v0, V& v1, V& v2, V& v3) {
    const std::size_t bytes = hn::Lanes(d) * sizeof(T);
    v0 = load_bytes(d, memory);
    v1 = load_bytes(d, memory + bytes);
    v2 = load_bytes(d, memory + 2 * bytes);
    v3 = load_bytes(d, memory + 3 * bytes);
  }

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

// 8- and 16-bit floats, computed as float32; D is the tag of the float32 vectors. Of four vectors each holds every
// second or fourth element, so that they are cut out of 32-bit words and put back without moves between lanes.
template <class Format>
struct NarrowLanes {
  using Wide = float;
  using Bits = typename Format::Bits;
  using Unsigned = NarrowLanes;
  using C = CodecConstants<Format>;
  template <class D>
  using Words = hn::Rebind<std::uint32_t, D>;
  template <class D>
  using Patterns = hn::Rebind<Bits, D>;
  static constexpr int kBits = 8 * sizeof(Bits);
  static constexpr bool kIsHighHalf = C::kRebias == 0;  // bfloat16 is the high half of a float32

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* memory) {
    return decode(d, hn::PromoteTo(Words<D>(), load_bytes(Patterns<D>(), memory)));
  }
  template <class D, class V>
  static HWY_INLINE void load_four(D d, const std::byte* memory, V& v0, V& v1, V& v2, V& v3) {
    const Words<D> words;
    const auto first = load_bytes(words, memory);
    if constexpr (sizeof(Bits) == 1) {
      const auto mask = hn::Set(words, 0xffu);
      v0 = decode(d, hn::And(first, mask));
      v1 = decode(d, hn::And(hn::ShiftRight<8>(first), mask));
      v2 = decode(d, hn::And(hn::ShiftRight<16>(first), mask));
      v3 = decode(d, hn::ShiftRight<24>(first));
    } else {
      const auto second = load_bytes(words, memory + hn::Lanes(words) * sizeof(std::uint32_t));
      v0 = decode_low(d, first);
      v1 = decode_high(d, first);
      v2 = decode_low(d, second);
      v3 = decode_high(d, second);
    }
  }
  template <class D, class W>
  static HWY_INLINE hn::Vec<D> decode_low(D d, W word) {
    if constexpr (kIsHighHalf) return hn::BitCast(d, hn::ShiftLeft<16>(word));
    return decode(d, hn::And(word, hn::Set(Words<D>(), 0xffffu)));
  }
  template <class D, class W>
  static HWY_INLINE hn::Vec<D> decode_high(D d, W word) {
    if constexpr (kIsHighHalf) return hn::BitCast(d, hn::And(word, hn::Set(Words<D>(), 0xffff0000u)));
    return decode(d, hn::ShiftRight<16>(word));
  }

  // The vector form of Codec::decode.
  template <class D, class W>
  static HWY_INLINE hn::Vec<D> decode(D d, W bits) {
    const Words<D> words;
    if constexpr (kIsHighHalf) return hn::BitCast(d, hn::ShiftLeft<16>(bits));
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
    const auto subnormal = hn::Sub(hn::BitCast(d, hn::Add(shifted, smallest_normal)), hn::BitCast(d, smallest_normal));
    const auto is_subnormal = hn::Lt(magnitude, hn::Set(words, 1u << C::kMantissaBits));
    value = hn::IfThenElse(is_subnormal, hn::BitCast(words, subnormal), value);
    return hn::BitCast(d, hn::Or(value, sign));
  }

  // bfloat16 in the high halves, rounded; the low halves hold what is left over. The sign takes no part in a carry.
  template <class D>
  static HWY_INLINE hn::Vec<Words<D>> encode_high(D /*tag*/, hn::Vec<D> value) {
    const Words<D> words;
    const auto all = hn::BitCast(words, value);
    const auto odd = hn::And(hn::ShiftRight<16>(all), hn::Set(words, 1u));
    const auto rounded = hn::Add(hn::Add(all, hn::Set(words, C::kRoundingBelowHalf)), odd);
    const auto is_nan = hn::RebindMask(words, hn::IsNaN(value));
    return hn::IfThenElse(is_nan, hn::Set(words, Format::kNan << 16), rounded);
  }

  // The vector form of Codec::encode.
  template <class D>
  static HWY_INLINE hn::Vec<Words<D>> encode(D d, hn::Vec<D> value) {
    const Words<D> words;
    if constexpr (kIsHighHalf) {
      return hn::ShiftRight<16>(encode_high(d, value));
    } else {
      const auto all = hn::BitCast(words, value);
      const auto magnitude = hn::And(all, hn::Set(words, 0x7fffffffu));
      const auto odd = hn::And(hn::ShiftRight<C::kShift>(magnitude), hn::Set(words, 1u));
      const auto rounding = hn::Set(words, C::kRoundingBelowHalf - C::kRebias);
      auto bits = hn::ShiftRight<C::kShift>(hn::Add(hn::Add(magnitude, rounding), odd));
      bits = hn::Min(bits, hn::Set(words, C::kOverflow));
      const auto rounder = hn::Set(words, C::kSubnormalRounder);
      const auto rounded = hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, rounder));
      const auto subnormal = hn::Sub(hn::BitCast(words, rounded), rounder);
      bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(words, C::kSmallestNormal)), subnormal, bits);
      bits = hn::Or(bits, hn::ShiftRight<C::kSignShift>(hn::Xor(all, magnitude)));
      const auto is_nan = hn::RebindMask(words, hn::IsNaN(value));
      return hn::IfThenElse(is_nan, hn::Set(words, Format::kNan), bits);
    }
  }

  template <class D>
  struct One {
    HWY_INLINE One(D d, hn::Vec<D> from) : value(hn::TruncateTo(Patterns<D>(), encode(d, from))) {}
    HWY_INLINE void store(D /*tag*/, std::byte* memory) const { store_bytes<false>(Patterns<D>(), value, memory); }
    hn::Vec<Patterns<D>> value;
  };

  template <class D>
  static HWY_INLINE hn::Vec<Words<D>> join_two(D d, hn::Vec<D> low, hn::Vec<D> high) {
    if constexpr (kIsHighHalf) {
      const auto mask = hn::Set(Words<D>(), 0xffff0000u);
      return hn::Or(hn::ShiftRight<16>(encode_high(d, low)), hn::And(encode_high(d, high), mask));
    }
    return hn::Or(encode(d, low), hn::ShiftLeft<16>(encode(d, high)));
  }
  template <class D, std::size_t kSize = sizeof(Bits)>
  struct Four {
    HWY_INLINE Four(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, hn::Vec<D> e)
        : first(join_two(d, a, b)), second(join_two(d, c, e)) {}
    template <bool kStream>
    HWY_INLINE void store(D /*tag*/, std::byte* memory) const {
      const Words<D> words;
      store_bytes<kStream>(words, first, memory);
      store_bytes<kStream>(words, second, memory + hn::Lanes(words) * sizeof(std::uint32_t));
    }
    hn::Vec<Words<D>> first, second;
  };
  template <class D>
  struct Four<D, 1> {
    HWY_INLINE Four(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, hn::Vec<D> e)
        : all(hn::Or(hn::Or(encode(d, a), hn::ShiftLeft<8>(encode(d, b))),
                     hn::Or(hn::ShiftLeft<16>(encode(d, c)), hn::ShiftLeft<24>(encode(d, e))))) {}
    template <bool kStream>
    HWY_INLINE void store(D /*tag*/, std::byte* memory) const {
      store_bytes<kStream>(Words<D>(), all, memory);
    }
    hn::Vec<Words<D>> all;
  };
};

// float16 where there are instructions that convert it with the right bits. They keep the payload of a NaN, so it is
// made canonical before.
struct HalfLanes {
  using Wide = float;
  using Bits = std::uint16_t;
  using Unsigned = HalfLanes;
  template <class D>
  using Patterns = hn::Rebind<Bits, D>;
  template <class D>
  using Halves = hn::Rebind<hwy::float16_t, D>;

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const std::byte* memory) {
    return hn::PromoteTo(d, hn::BitCast(Halves<D>(), load_bytes(Patterns<D>(), memory)));
  }
  template <class D, class V>
  static HWY_INLINE void load_four(D d, const std::byte* memory, V& v0, V& v1, V& v2, V& v3) {
    const std::size_t bytes = hn::Lanes(d) * sizeof(Bits);
    v0 = load(d, memory);
    v1 = load(d, memory + bytes);
    v2 = load(d, memory + 2 * bytes);
    v3 = load(d, memory + 3 * bytes);
  }

  template <class D>
  static HWY_INLINE hn::Vec<Patterns<D>> encode(D d, hn::Vec<D> value) {
    const auto nan = hn::BitCast(d, hn::Set(hn::Rebind<std::uint32_t, D>(), 0x7fc00000u));
    const auto canonical = hn::IfThenElse(hn::IsNaN(value), nan, value);
    return hn::BitCast(Patterns<D>(), hn::DemoteTo(Halves<D>(), canonical));
  }

  template <class D>
  struct One {
    HWY_INLINE One(D d, hn::Vec<D> from) : value(encode(d, from)) {}
    HWY_INLINE void store(D /*tag*/, std::byte* memory) const { store_bytes<false>(Patterns<D>(), value, memory); }
    hn::Vec<Patterns<D>> value;
  };
  template <class D>
  struct Four {
    HWY_INLINE Four(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, hn::Vec<D> e)
        : v0(encode(d, a)), v1(encode(d, b)), v2(encode(d, c)), v3(encode(d, e)) {}
    template <bool kStream>
    HWY_INLINE void store(D d, std::byte* memory) const {
      const std::size_t bytes = hn::Lanes(d) * sizeof(Bits);
      store_bytes<kStream>(Patterns<D>(), v0, memory);
      store_bytes<kStream>(Patterns<D>(), v1, memory + bytes);
      store_bytes<kStream>(Patterns<D>(), v2, memory + 2 * bytes);
      store_bytes<kStream>(Patterns<D>(), v3, memory + 3 * bytes);
    }
    hn::Vec<Patterns<D>> v0, v1, v2, v3;
  };
};

using Float16Lanes =
    std::conditional_t<HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3, HalfLanes, NarrowLanes<Float16Format>>;

struct Add {
  static constexpr Op kOp = Op::sum;
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Add(a, b);
  }
};
struct Multiply {
  static constexpr Op kOp = Op::product;
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Mul(a, b);
  }
};
// A NaN in `a` stays; one in `b` wins because it compares false.
struct Smaller {
  static constexpr Op kOp = Op::min;
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
  static constexpr Op kOp = Op::max;
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
