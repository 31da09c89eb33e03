// The typed calls of a communicator, in terms of run(): what each does with its spans. Included by communicator.h.
#pragma once

#include "tutti/communicator.h"

namespace tutti {

template <Element T>
Status Communicator::all_reduce(std::span<const T> in, std::span<T> out, Reduction reduction) {
  return run_checked(
      {.in = in.data(), .out = out.data(), .count = in.size(), .type = ElementTraits<T>::type, .reduction = reduction},
      in.size(), out.size());
}

template <Element T>
Status Communicator::all_reduce(std::span<T> data, Reduction reduction) {
  return all_reduce(std::span<const T>(data), data, reduction);
}

template <Element T>
Status Communicator::all_gather(std::span<const T> in, std::span<T> out) {
  return run_checked({.collective = plan::Collective::all_gather,
                      .in = in.data(),
                      .out = out.data(),
                      .count = in.size(),
                      .type = ElementTraits<T>::type},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::reduce_scatter(std::span<const T> in, std::span<T> out, Reduction reduction) {
  return run_checked({.collective = plan::Collective::reduce_scatter,
                      .in = in.data(),
                      .out = out.data(),
                      .count = out.size(),
                      .type = ElementTraits<T>::type,
                      .reduction = reduction},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::broadcast(std::span<T> data, Rank root) {
  return run_checked({.collective = plan::Collective::broadcast,
                      .in = data.data(),
                      .out = data.data(),
                      .count = data.size(),
                      .type = ElementTraits<T>::type,
                      .root = root},
                     data.size(), data.size());
}

template <Element T>
Status Communicator::reduce(std::span<const T> in, std::span<T> out, Rank root, Reduction reduction) {
  return run_checked({.collective = plan::Collective::reduce,
                      .in = in.data(),
                      .out = out.data(),
                      .count = in.size(),
                      .type = ElementTraits<T>::type,
                      .reduction = reduction,
                      .root = root},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::gather(std::span<const T> in, std::span<T> out, Rank root) {
  return run_checked({.collective = plan::Collective::gather,
                      .in = in.data(),
                      .out = out.data(),
                      .count = in.size(),
                      .type = ElementTraits<T>::type,
                      .root = root},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::scatter(std::span<const T> in, std::span<T> out, Rank root) {
  return run_checked({.collective = plan::Collective::scatter,
                      .in = in.data(),
                      .out = out.data(),
                      .count = out.size(),
                      .type = ElementTraits<T>::type,
                      .root = root},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::all_to_all(std::span<const T> in, std::span<T> out) {
  return run_checked({.collective = plan::Collective::all_to_all,
                      .in = in.data(),
                      .out = out.data(),
                      .count = in.size() / static_cast<std::size_t>(size()),
                      .type = ElementTraits<T>::type},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::send(std::span<const T> data, Rank to) {
  return run_checked({.collective = plan::Collective::send_receive,
                      .in = data.data(),
                      .count = data.size(),
                      .type = ElementTraits<T>::type,
                      .root = rank(),
                      .peer = to},
                     data.size(), 0);
}

template <Element T>
Status Communicator::receive(std::span<T> data, Rank from) {
  return run_checked({.collective = plan::Collective::send_receive,
                      .out = data.data(),
                      .count = data.size(),
                      .type = ElementTraits<T>::type,
                      .root = from,
                      .peer = rank()},
                     0, data.size());
}

inline Status Communicator::barrier() { return run({.collective = plan::Collective::barrier}); }

template <Element T>
Status Communicator::all_gather_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts) {
  return run_checked({.collective = plan::Collective::all_gather,
                      .in = in.data(),
                      .out = out.data(),
                      .type = ElementTraits<T>::type,
                      .counts = counts},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::reduce_scatter_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts,
                                      Reduction reduction) {
  return run_checked({.collective = plan::Collective::reduce_scatter,
                      .in = in.data(),
                      .out = out.data(),
                      .type = ElementTraits<T>::type,
                      .reduction = reduction,
                      .counts = counts},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::gather_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts,
                              Rank root) {
  return run_checked({.collective = plan::Collective::gather,
                      .in = in.data(),
                      .out = out.data(),
                      .type = ElementTraits<T>::type,
                      .root = root,
                      .counts = counts},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::scatter_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts,
                               Rank root) {
  return run_checked({.collective = plan::Collective::scatter,
                      .in = in.data(),
                      .out = out.data(),
                      .type = ElementTraits<T>::type,
                      .root = root,
                      .counts = counts},
                     in.size(), out.size());
}

template <Element T>
Status Communicator::all_to_all_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts) {
  return run_checked({.collective = plan::Collective::all_to_all,
                      .in = in.data(),
                      .out = out.data(),
                      .type = ElementTraits<T>::type,
                      .counts = counts},
                     in.size(), out.size());
}

template <Element T>
void Group::send(Communicator& communicator, std::span<const T> data, Rank to) {
  add(communicator, {.collective = plan::Collective::send_receive,
                     .in = data.data(),
                     .count = data.size(),
                     .type = ElementTraits<T>::type,
                     .root = communicator.rank(),
                     .peer = to});
}

template <Element T>
void Group::receive(Communicator& communicator, std::span<T> data, Rank from) {
  add(communicator, {.collective = plan::Collective::send_receive,
                     .out = data.data(),
                     .count = data.size(),
                     .type = ElementTraits<T>::type,
                     .root = from,
                     .peer = communicator.rank()});
}

}  // namespace tutti
