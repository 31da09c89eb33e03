// The passes over memory: where a vector of the value comes from, and the loops that store it; see simd.inl.

HWY_BEFORE_NAMESPACE();
namespace tutti::engine::HWY_NAMESPACE {

// Any number of sources.
template <class LanesType, class Operation>
struct Any {
  using Lanes = LanesType;
  static constexpr bool kHasFour = true;

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
    const std::size_t bytes = hn::Lanes(d) * sizeof(typename Lanes::Bits);
    const std::byte* memory = sources[0] + at;
    auto v0 = Lanes::load(d, memory);
    auto v1 = Lanes::load(d, memory + bytes);
    auto v2 = Lanes::load(d, memory + 2 * bytes);
    auto v3 = Lanes::load(d, memory + 3 * bytes);
    for (const auto* source = sources + 1; source != end; ++source) {
      memory = *source + at;
      v0 = Operation::combine(v0, Lanes::load(d, memory));
      v1 = Operation::combine(v1, Lanes::load(d, memory + bytes));
      v2 = Operation::combine(v2, Lanes::load(d, memory + 2 * bytes));
      v3 = Operation::combine(v3, Lanes::load(d, memory + 3 * bytes));
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
  static constexpr bool kHasFour = true;

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
    const std::size_t bytes = hn::Lanes(d) * sizeof(typename Lanes::Bits);
    return {d, one(d, at), one(d, at + bytes), one(d, at + 2 * bytes), one(d, at + 3 * bytes)};
  }

  const std::byte* sources[kSources];
};

// A sum whose inputs are multiplied or which is divided; only of floats.
template <class LanesType>
struct Adjusted {
  using Lanes = LanesType;
  static constexpr bool kHasFour = false;

  explicit HWY_INLINE Adjusted(const Operands& from) : operands(from) {}

  template <class D>
  HWY_INLINE hn::Vec<D> input(D d, std::size_t source, std::size_t at) const {
    const auto value = Lanes::load(d, operands.sources[source] + at);
    const double factor = operands.factors != nullptr ? operands.factors[source] : 1;
    if (factor == 1) return value;
    return hn::Mul(value, hn::Set(d, static_cast<typename Lanes::Wide>(factor)));
  }

  template <class D>
  HWY_INLINE hn::Vec<D> one(D d, std::size_t at) const {
    auto value = input(d, 0, at);
    for (std::size_t s = 1; s < operands.sources.size(); ++s) value = hn::Add(value, input(d, s, at));
    if (operands.divide_by == 1) return value;
    return hn::Div(value, hn::Set(d, static_cast<typename Lanes::Wide>(operands.divide_by)));
  }

  const Operands& operands;
};

template <class Lanes, class D>
HWY_INLINE void store_one(D d, const Operands& operands, std::size_t at, hn::Vec<D> value) {
  const typename Lanes::template One<D> encoded(d, value);
  for (std::byte* target : operands.targets) encoded.store(d, target + at);
}

// Elements [begin, end), at least a vector of them and, where four are not taken at once, fewer than many. The last
// vector overlaps the one before it rather than being a partial one; in place its sources would then have been
// overwritten, so it is computed first and stored last.
template <bool kStream, class Value, class D>
HWY_INLINE void run_vectors(D d, const Value& value, const Operands& operands, std::size_t begin, std::size_t end) {
  using Lanes = typename Value::Lanes;
  constexpr std::size_t kSize = sizeof(typename Lanes::Bits);
  const std::size_t bytes = hn::Lanes(d) * kSize;
  const std::size_t stop = end * kSize;
  const auto last = value.one(d, stop - bytes);
  std::size_t at = begin * kSize;
  if constexpr (Value::kHasFour) {
    for (; at + 4 * bytes <= stop; at += 4 * bytes) {
      const auto four = value.four(d, at);
      for (std::byte* target : operands.targets) four.template store<kStream>(d, target + at);
    }
  }
  for (; at + bytes <= stop; at += bytes) store_one<Lanes>(d, operands, at, value.one(d, at));
  if (at < stop) store_one<Lanes>(d, operands, stop - bytes, last);
}

// Fewer elements than twice the lanes of D: two vectors that overlap, as wide as there are elements for.
template <class Value, class D>
HWY_INLINE void run_few(D d, const Value& value, const Operands& operands, std::size_t begin, std::size_t end) {
  using Lanes = typename Value::Lanes;
  constexpr std::size_t kSize = sizeof(typename Lanes::Bits);
  const std::size_t lanes = hn::Lanes(d);
  if (end - begin >= lanes) {
    const auto last = value.one(d, (end - lanes) * kSize);
    store_one<Lanes>(d, operands, begin * kSize, value.one(d, begin * kSize));
    if (end - begin > lanes) store_one<Lanes>(d, operands, (end - lanes) * kSize, last);
    return;
  }
  if constexpr (hn::MaxLanes(D()) > 1) run_few(hn::Half<D>(), value, operands, begin, end);
}

// How many elements come before the first at which all targets are aligned to a vector; `elements` if there is none.
inline std::size_t head_of(const Operands& operands, std::size_t vector_bytes, std::size_t element_bytes) {
  const auto misaligned = [&](const std::byte* target) {
    return reinterpret_cast<std::uintptr_t>(target) & (vector_bytes - 1);
  };
  const std::size_t first = misaligned(operands.targets[0]);
  const std::size_t head_bytes = (vector_bytes - first) & (vector_bytes - 1);
  if (head_bytes % element_bytes != 0) return operands.elements;
  for (const std::byte* target : operands.targets) {
    if (misaligned(target) != first) return operands.elements;
  }
  return std::min<std::size_t>(head_bytes / element_bytes, operands.elements);
}

template <class Value>
void run_streaming(const Value& value, const Operands& operands) {
  using Lanes = typename Value::Lanes;
  const hn::ScalableTag<typename Lanes::Wide> d;
  const std::size_t vector_bytes = hn::Lanes(d) * sizeof(typename Lanes::Wide);
  const std::size_t head = head_of(operands, vector_bytes, sizeof(typename Lanes::Bits));
  if (operands.elements - head < 4 * hn::Lanes(d)) {
    run_vectors<false>(d, value, operands, 0, operands.elements);
    return;
  }
  // A head is at most a vector of memory, which for narrow types is several of the computation.
  std::size_t begin = 0;
  for (; begin + hn::Lanes(d) <= head; begin += hn::Lanes(d)) {
    run_few(d, value, operands, begin, begin + hn::Lanes(d));
  }
  if (begin < head) run_few(d, value, operands, begin, head);
  run_vectors<true>(d, value, operands, head, operands.elements);
  hwy::FlushStream();
}

template <class Value>
HWY_INLINE void run(const Value& value, const Operands& operands) {
  const hn::ScalableTag<typename Value::Lanes::Wide> d;
  if (operands.elements < 2 * hn::Lanes(d)) {
    run_few(d, value, operands, 0, operands.elements);
  } else if (Value::kHasFour && operands.streaming) {
    run_streaming(value, operands);
  } else {
    run_vectors<false>(d, value, operands, 0, operands.elements);
  }
}

}  // namespace tutti::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
