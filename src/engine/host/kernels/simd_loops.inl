// The passes over memory: where a vector of the value comes from, and the loops that store it; see simd.inl.

HWY_BEFORE_NAMESPACE();
namespace tutti::engine::HWY_NAMESPACE {

// The value of a step: `one` vector of it or `four`, from the byte `at` of the sources.
template <class LanesType, class Operation>
struct Any {
  using Lanes = LanesType;

  explicit HWY_INLINE Any(const Operands& operands)
      : sources(operands.sources.data()), end(operands.sources.data() + operands.sources.size()) {}

  template <class D>
  HWY_INLINE hn::Vec<D> one(D d, std::size_t at) const {
    auto value = Lanes::load(d, sources[0] + at);
    for (const auto* source = sources + 1; source != end; ++source) {
      value = Operation::combine(value, Lanes::load(d, *source + at));
    }
    return value;
  }

  template <class D>
  HWY_INLINE typename Lanes::template Four<D> four(D d, std::size_t at) const {
    hn::Vec<D> v0, v1, v2, v3, w0, w1, w2, w3;
    Lanes::load_four(d, sources[0] + at, v0, v1, v2, v3);
    for (const auto* source = sources + 1; source != end; ++source) {
      Lanes::load_four(d, *source + at, w0, w1, w2, w3);
      v0 = Operation::combine(v0, w0);
      v1 = Operation::combine(v1, w1);
      v2 = Operation::combine(v2, w2);
      v3 = Operation::combine(v3, w3);
    }
    return {d, v0, v1, v2, v3};
  }

  const std::byte* const* sources;
  const std::byte* const* end;
};

// A number of sources known to the compiler, which keeps their addresses in registers.
template <class LanesType, class Operation, std::size_t kSources>
struct Fixed {
  using Lanes = LanesType;

  explicit HWY_INLINE Fixed(const Operands& operands) {
    for (std::size_t s = 0; s < kSources; ++s) sources[s] = operands.sources[s];
  }

  template <class D>
  HWY_INLINE hn::Vec<D> one(D d, std::size_t at) const {
    auto value = Lanes::load(d, sources[0] + at);
    for (std::size_t s = 1; s < kSources; ++s) value = Operation::combine(value, Lanes::load(d, sources[s] + at));
    return value;
  }

  template <class D>
  HWY_INLINE typename Lanes::template Four<D> four(D d, std::size_t at) const {
    hn::Vec<D> v0, v1, v2, v3, w0, w1, w2, w3;
    Lanes::load_four(d, sources[0] + at, v0, v1, v2, v3);
    for (std::size_t s = 1; s < kSources; ++s) {
      Lanes::load_four(d, sources[s] + at, w0, w1, w2, w3);
      v0 = Operation::combine(v0, w0);
      v1 = Operation::combine(v1, w1);
      v2 = Operation::combine(v2, w2);
      v3 = Operation::combine(v3, w3);
    }
    return {d, v0, v1, v2, v3};
  }

  const std::byte* sources[kSources];
};

// A sum of floats whose inputs are multiplied or which is divided. Dividing by 1 changes no bit and is left out;
// multiplying by 1 changes none either.
template <class LanesType>
struct Adjusted {
  using Lanes = LanesType;
  using Wide = typename Lanes::Wide;

  explicit HWY_INLINE Adjusted(const Operands& from) : operands(from) {}

  HWY_INLINE Wide factor(std::size_t source) const {
    return operands.factors != nullptr ? static_cast<Wide>(operands.factors[source]) : Wide{1};
  }

  template <class D>
  HWY_INLINE hn::Vec<D> one(D d, std::size_t at) const {
    auto value = hn::Mul(Lanes::load(d, operands.sources[0] + at), hn::Set(d, factor(0)));
    for (std::size_t s = 1; s < operands.sources.size(); ++s) {
      value = hn::Add(value, hn::Mul(Lanes::load(d, operands.sources[s] + at), hn::Set(d, factor(s))));
    }
    return divided(d, value);
  }

  template <class D>
  HWY_INLINE typename Lanes::template Four<D> four(D d, std::size_t at) const {
    hn::Vec<D> v0, v1, v2, v3, w0, w1, w2, w3;
    Lanes::load_four(d, operands.sources[0] + at, v0, v1, v2, v3);
    const auto first = hn::Set(d, factor(0));
    v0 = hn::Mul(v0, first);
    v1 = hn::Mul(v1, first);
    v2 = hn::Mul(v2, first);
    v3 = hn::Mul(v3, first);
    for (std::size_t s = 1; s < operands.sources.size(); ++s) {
      const auto multiplier = hn::Set(d, factor(s));
      Lanes::load_four(d, operands.sources[s] + at, w0, w1, w2, w3);
      v0 = hn::Add(v0, hn::Mul(w0, multiplier));
      v1 = hn::Add(v1, hn::Mul(w1, multiplier));
      v2 = hn::Add(v2, hn::Mul(w2, multiplier));
      v3 = hn::Add(v3, hn::Mul(w3, multiplier));
    }
    return {d, divided(d, v0), divided(d, v1), divided(d, v2), divided(d, v3)};
  }

  template <class D>
  HWY_INLINE hn::Vec<D> divided(D d, hn::Vec<D> value) const {
    if (operands.divide_by == 1) return value;
    return hn::Div(value, hn::Set(d, static_cast<Wide>(operands.divide_by)));
  }

  const Operands& operands;
};

template <class Lanes, class D>
HWY_INLINE void store_one(D d, std::span<std::byte* const> targets, std::size_t at, hn::Vec<D> value) {
  const typename Lanes::template One<D> encoded(d, value);
  for (std::byte* target : targets) encoded.store(d, target + at);
}

// At least a vector of elements. The last vector overlaps the one before it rather than being a partial one; in place
// its sources would by then have been overwritten, so it is computed first and stored last.
template <class Value>
HWY_INLINE void run_vectors(const Value& value, const Operands& operands) {
  using Lanes = typename Value::Lanes;
  const hn::ScalableTag<typename Lanes::Wide> d;
  const std::size_t bytes = hn::Lanes(d) * sizeof(typename Lanes::Bits);
  const std::size_t end = operands.elements * sizeof(typename Lanes::Bits);
  const std::span<std::byte* const> targets = operands.targets;
  auto last = hn::Zero(d);
  if (end % bytes != 0) last = value.one(d, end - bytes);
  std::size_t at = 0;
  for (; at + 4 * bytes <= end; at += 4 * bytes) {
    const auto four = value.four(d, at);
    for (std::byte* target : targets) four.template store<false>(d, target + at);
  }
  for (; at + bytes <= end; at += bytes) store_one<Lanes>(d, targets, at, value.one(d, at));
  if (at != end) store_one<Lanes>(d, targets, end - bytes, last);
}

// How many bytes come before the first at which all targets are aligned for streaming, or `none`.
inline std::size_t head_of(std::span<std::byte* const> targets, std::size_t alignment, std::size_t none) {
  const auto misaligned = [alignment](const std::byte* target) {
    return reinterpret_cast<std::uintptr_t>(target) & (alignment - 1);
  };
  const std::size_t first = misaligned(targets[0]);
  for (const std::byte* target : targets) {
    if (misaligned(target) != first) return none;
  }
  return (alignment - first) & (alignment - 1);
}

// As run_vectors, but stores around the caches. False, and nothing done, where the targets do not allow it: there are
// few elements or they are differently aligned. What lies before the first aligned byte is done as the last vectors
// are, computed first and stored last.
template <class Value>
HWY_NOINLINE bool try_streaming(const Value& value, const Operands& operands) {
  using Lanes = typename Value::Lanes;
  const hn::ScalableTag<typename Lanes::Wide> d;
  constexpr std::size_t kSize = sizeof(typename Lanes::Bits);
  const std::size_t step = 4 * hn::Lanes(d) * kSize;
  const std::size_t end = operands.elements * kSize;
  const std::span<std::byte* const> targets = operands.targets;
  const std::size_t head = head_of(targets, hn::Lanes(d) * sizeof(typename Lanes::Wide), end);
  if (head % kSize != 0 || head + step > end) return false;
  const auto front = value.four(d, 0);
  const auto back = value.four(d, end - step);
  for (std::size_t at = head; at + step <= end; at += step) {
    const auto four = value.four(d, at);
    for (std::byte* target : targets) four.template store<true>(d, target + at);
  }
  hwy::FlushStream();
  for (std::byte* target : targets) {
    if (head != 0) front.template store<false>(d, target);
    if ((end - head) % step != 0) back.template store<false>(d, target + end - step);
  }
  return true;
}

// Fewer elements than a vector: two vectors that overlap, as wide as there are elements for.
template <class Value, class D>
HWY_INLINE void run_few(D d, const Value& value, const Operands& operands) {
  using Lanes = typename Value::Lanes;
  const std::size_t lanes = hn::Lanes(d);
  if (operands.elements >= lanes) {
    const std::size_t at = (operands.elements - lanes) * sizeof(typename Lanes::Bits);
    const auto last = value.one(d, at);
    store_one<Lanes>(d, operands.targets, 0, value.one(d, 0));
    store_one<Lanes>(d, operands.targets, at, last);
  } else if constexpr (hn::MaxLanes(D()) > 1) {
    run_few(hn::Half<D>(), value, operands);
  }
}

template <class Value>
HWY_INLINE void run(const Value& value, const Operands& operands) {
  if (!operands.streaming || !try_streaming(value, operands)) run_vectors(value, operands);
}

}  // namespace tutti::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
