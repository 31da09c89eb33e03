// What a thread has looked up by handle of late, so that it takes no lock to find it again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tutti {

// A few places, and each handle has one of them: what is not there is looked up where all are. Not for several threads.
template <class Value>
class Recent {
 public:
  // nullptr: not here, or from before that version of the place where all are.
  const Value* find(const void* handle, std::uint64_t version) const {
    const Place& place = places_[index_of(handle)];
    return place.handle == handle && place.version == version ? &place.value : nullptr;
  }
  void keep(const void* handle, std::uint64_t version, Value value) {
    places_[index_of(handle)] = {handle, version, std::move(value)};
  }

 private:
  static constexpr int kIndexBits = 5;
  struct Place {
    const void* handle = nullptr;
    std::uint64_t version = 0;
    Value value = {};
  };

  // Handles that were made one after the other are mostly the same distance apart; steps of the golden section fall
  // evenly.
  static std::size_t index_of(const void* handle) {
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(handle) * 0x9e3779b97f4a7c15) >>
                                    (64 - kIndexBits));
  }

  std::array<Place, std::size_t{1} << kIndexBits> places_;
};

}  // namespace tutti
