#include "tutti/communicator.h"

#include <fmt/format.h>

#include "comm/bundle.h"
#include "comm/side.h"
#include "comm/start.h"
#include "comm/stream.h"
#include "device/host/executor.h"

namespace tutti {

// shared: by the communicator and by calls of it that streams still have to run.
struct Communicator::State {
  std::shared_ptr<comm::Side> side;
};

Communicator::Communicator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Result<Communicator> Communicator::create(const CommunicatorOptions& options) {
  TUTTI_ASSIGN(auto side, comm::start(options));
  return Communicator(std::make_unique<State>(State{std::move(side)}));
}

Result<std::vector<Communicator>> Communicator::create_local(Rank size, const CommunicatorOptions& options) {
  TUTTI_ASSIGN(auto sides, comm::start_local(size, options));
  std::vector<Communicator> communicators;
  for (auto& side : sides) communicators.push_back(Communicator(std::make_unique<State>(State{std::move(side)})));
  return communicators;
}

Rank Communicator::rank() const { return state_->side->rank(); }
Rank Communicator::size() const { return state_->side->size(); }

Status Communicator::run(const Call& call) {
  comm::Side& side = *state_->side;
  TUTTI_TRY(side.validate(call));
  return side.run(call);
}

Status Communicator::run_checked(const Call& call, std::uint64_t in_elements, std::uint64_t out_elements) {
  comm::Side& side = *state_->side;
  TUTTI_TRY(side.validate(call));
  const comm::BufferSizes sizes = comm::buffer_sizes(call, side.rank(), side.size());
  if (in_elements < sizes.in_elements || out_elements < sizes.out_elements) [[unlikely]] {
    const bool is_in = in_elements < sizes.in_elements;
    return invalid_argument(fmt::format(
        "{} on rank {} of {} needs {} elements of {}put, and the span has {}", comm::describe(call), rank(), size(),
        is_in ? sizes.in_elements : sizes.out_elements, is_in ? "in" : "out", is_in ? in_elements : out_elements));
  }
  return side.run(call);
}

Work Communicator::submit(const Call& call, Stream& stream) {
  Group group;
  group.add(*this, call);
  return group.submit(stream);
}

Result<std::optional<Communicator>> Communicator::split(int color, int key) {
  if (color < 0 && color != kNoColor) {
    return invalid_argument(fmt::format("a colour is 0 or more, or kNoColor, not {}", color));
  }
  TUTTI_ASSIGN(auto side, comm::start_split(*state_->side, color, key));
  if (side == nullptr) return std::optional<Communicator>();
  return std::optional(Communicator(std::make_unique<State>(State{std::move(side)})));
}

Result<Communicator> Communicator::shrink(std::chrono::nanoseconds timeout) {
  TUTTI_ASSIGN(auto side, comm::start_shrunk(*state_->side, timeout));
  return Communicator(std::make_unique<State>(State{std::move(side)}));
}

Result<Communicator> Communicator::grow(const Identifier& identifier, Rank new_size) {
  if (new_size < size()) {
    return invalid_argument(fmt::format("a communicator of {} ranks cannot grow to {}", size(), new_size));
  }
  CommunicatorOptions options = state_->side->options();
  options.size = new_size;
  options.store = "tcp:" + identifier.text();
  TUTTI_ASSIGN(auto side, comm::start(options, state_->side->network()));
  return Communicator(std::make_unique<State>(State{std::move(side)}));
}

void Communicator::abort(const Status& why) noexcept {
  const bool has_reason = !why.is_ok();
  state_->side->end(has_reason ? why.code() : Code::aborted, has_reason ? why.text() : "the program aborted it");
  state_->side->record_end();
}

Status Communicator::health() const { return state_->side->why_ended(); }
MemoryUse Communicator::memory() const { return state_->side->memory(); }
std::string Communicator::last_plan() const { return state_->side->last_plan(); }

Result<std::string> Communicator::explain(const Call& call) const {
  Call complete = call;
  const comm::Side& side = *state_->side;
  // Buffers do not matter to the explanation.
  static const std::byte nowhere{};
  complete.in = &nowhere;
  complete.out = const_cast<std::byte*>(&nowhere);
  TUTTI_TRY(side.validate(complete));
  return side.explain(call);
}

void Group::add(Communicator& communicator, const Call& call) { entries_.push_back({&communicator, call}); }

// If one is not valid, none takes its place in the order of calls.
Result<std::vector<comm::Entry>> Group::take() {
  const auto entries = std::exchange(entries_, {});
  std::vector<comm::Entry> calls;
  for (const Entry& entry : entries) {
    const auto& side = entry.communicator->state_->side;
    if (side->has_ended()) return side->why_ended();
    TUTTI_TRY(side->validate(entry.call));
    calls.push_back({side, entry.call});
  }
  return calls;
}

Status Group::run() {
  TUTTI_ASSIGN(std::vector<comm::Entry> calls, take());
  comm::Bundle bundle;
  for (comm::Entry& entry : calls) bundle.add(std::move(entry));
  bundle.take_places();
  return bundle.complete();
}

Work Group::submit(Stream& stream) {
  auto work = std::make_shared<Work::State>();
  auto calls = take();
  if (!calls) {
    work->finish(calls.status());
  } else {
    const auto& target = stream.state_->stream;
    device::Executor::of_process().submit(
        comm::task_of({.calls = *std::move(calls),
                       .streams = {},
                       .on_end = [work](const Status& status) { work->finish(status); }}),
        target);
  }
  return Work(std::move(work));
}

}  // namespace tutti
