#include "tools/perf/image.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tools/perf/failure.h"

namespace tutti::perf {

namespace {

constexpr std::byte kGuard{0x5c};
constexpr std::byte kPoison{0xa5};
constexpr std::size_t kPartBytes = std::size_t{1} << 20;

std::uint64_t bits_at(std::span<const std::byte> bytes, std::uint64_t at, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + at, size);
  return bits;
}

std::string number_text(const ElementType& type, std::uint64_t bits) {
  return fmt::format("{:g} (0x{:0{}x})", decode(type, bits), bits, 2 * type.bytes);
}

}  // namespace

Image::Image(const Pattern& pattern, std::uint64_t seed, std::uint64_t begin, std::uint64_t bytes)
    : pattern_(pattern), seed_(seed), begin_(begin), bytes_(bytes) {}

void Image::add(std::uint64_t at, std::uint64_t count, int source, std::uint64_t first) {
  const std::size_t size = pattern_.type().bytes;
  layers_.push_back({kGuardBytes + at * size, kGuardBytes + (at + count) * size, source, first});
}

void Image::render(std::span<std::byte> target, std::uint64_t first) const {
  const std::uint64_t end = first + target.size();
  const auto part = [&](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t low = std::clamp(from, first, end);
    const std::uint64_t high = std::clamp(to, low, end);
    return target.subspan(low - first, high - low);
  };
  std::ranges::fill(target, kGuard);
  std::ranges::fill(part(kGuardBytes, kGuardBytes + bytes_), kPoison);
  const std::size_t size = pattern_.type().bytes;
  for (const Layer& layer : layers_) {
    const std::uint64_t from = std::max(layer.begin, first);
    const auto covered = part(layer.begin, layer.end);
    if (!covered.empty()) pattern_.fill(covered, layer.source, layer.first + (from - layer.begin) / size, seed_);
  }
}

void Image::compare_guard(std::span<const std::byte> found, std::uint64_t first, Difference& difference) const {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == kGuard) continue;
    const std::uint64_t at = first + i;
    if (difference.first.empty()) {
      difference.first =
          at < kGuardBytes
              ? fmt::format("a byte was written {} bytes before the buffer begins", kGuardBytes - at)
              : fmt::format("a byte was written {} bytes after the buffer ends", at - kGuardBytes - bytes_ + 1);
    }
    ++difference.outside;
  }
}

void Image::compare_elements(std::span<const std::byte> found, std::span<const std::byte> expected, std::uint64_t first,
                             Difference& difference) const {
  const ElementType& type = pattern_.type();
  for (std::uint64_t at = 0; at + type.bytes <= found.size(); at += type.bytes) {
    const std::uint64_t got = bits_at(found, at, type.bytes);
    const std::uint64_t wanted = bits_at(expected, at, type.bytes);
    if (got == wanted) continue;
    const double tolerance = pattern_.tolerance();
    if (tolerance > 0 && std::fabs(decode(type, got) - decode(type, wanted)) <= tolerance) continue;
    if (difference.first.empty()) {
      difference.first =
          fmt::format("element {} of the buffer is {} instead of {}", (first + at - kGuardBytes) / type.bytes,
                      number_text(type, got), number_text(type, wanted));
    }
    ++difference.wrong;
  }
}

void Image::compare(std::span<const std::byte> found, std::uint64_t first, Difference& difference) const {
  std::vector<std::byte> expected(found.size());
  render(expected, first);
  if (std::memcmp(found.data(), expected.data(), found.size()) == 0) return;
  const std::uint64_t data_begin = std::clamp<std::uint64_t>(kGuardBytes, first, first + found.size()) - first;
  const std::uint64_t data_end = std::clamp<std::uint64_t>(kGuardBytes + bytes_, first, first + found.size()) - first;
  const std::span<const std::byte> wanted = expected;
  compare_guard(found.first(data_begin), first, difference);
  compare_elements(found.subspan(data_begin, data_end - data_begin), wanted.subspan(data_begin, data_end - data_begin),
                   first + data_begin, difference);
  compare_guard(found.subspan(data_end), first + data_end, difference);
}

Status upload(const Image& image, std::byte* memory) {
  std::vector<std::byte> part(std::min<std::uint64_t>(kPartBytes, image.bytes()));
  for (std::uint64_t first = 0; first < image.bytes(); first += part.size()) {
    const std::uint64_t size = std::min<std::uint64_t>(part.size(), image.bytes() - first);
    const auto filled = std::span(part).first(size);
    image.render(filled, first);
    TUTTI_TRY(of_cuda(cudaMemcpy(memory + image.begin() + first, filled.data(), size, cudaMemcpyHostToDevice),
                      "cudaMemcpy to the device"));
  }
  // A copy from memory that is not pinned returns when it has been staged: the bytes may still be on their way, and the
  // streams that are measured do not wait for the default stream.
  return of_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

Result<Image::Difference> compare(const Image& image, const std::byte* memory) {
  Image::Difference difference;
  std::vector<std::byte> part(std::min<std::uint64_t>(kPartBytes, image.bytes()));
  for (std::uint64_t first = 0; first < image.bytes(); first += part.size()) {
    const std::uint64_t size = std::min<std::uint64_t>(part.size(), image.bytes() - first);
    const auto copied = std::span(part).first(size);
    TUTTI_TRY(of_cuda(cudaMemcpy(copied.data(), memory + image.begin() + first, size, cudaMemcpyDeviceToHost),
                      "cudaMemcpy from the device"));
    image.compare(copied, first, difference);
  }
  return difference;
}

}  // namespace tutti::perf
