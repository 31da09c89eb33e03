// Ranks that act together: the collectives, on the caller's thread or on streams, with every wait bounded and every
// failure a sentence that names who is to blame.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/call.h"
#include "tutti/element.h"
#include "tutti/identifier.h"
#include "tutti/memory.h"
#include "tutti/status.h"

namespace tutti {

namespace comm {
struct Entry;
}

// A call that was submitted. Copies refer to the same call.
class Work {
 public:
  Work() = default;
  bool is_done() const;
  // What the call returned. Without a timeout it waits as long as the call may take; timed_out leaves the call running.
  Status wait(std::optional<std::chrono::nanoseconds> timeout = {}) const;

 private:
  friend class Communicator;
  friend class Group;
  friend class Stream;
  struct State;
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// Calls in order, run by threads that wait for them and by a few of the library's. Destroying it waits for what was
// submitted.
class Stream {
 public:
  static Result<Stream> create();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();
  // Until everything submitted so far has ended; each call's own Work says how.
  Status synchronize(std::optional<std::chrono::nanoseconds> timeout = {});

 private:
  friend class Communicator;
  friend class Group;
  struct State;
  explicit Stream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What the planner may choose from for one collective: algorithms as `tutti plan list` names them.
struct AllowedAlgorithms {
  plan::Collective collective = plan::Collective::all_reduce;
  std::vector<std::string> names = {};
};

struct CommunicatorOptions {
  Rank rank = 0;
  Rank size = 1;
  // Where the ranks meet: "file:/path" (a file that the first one creates and the last one removes) or "unix:/path" (a
  // socket that rank 0 serves) for ranks of one machine; "tcp:" and the text of an Identifier for ranks anywhere. Every
  // communicator needs a place of its own.
  std::string store = {};
  // 0: as TUTTI_START_TIMEOUT says, 60 s unless it is set.
  std::chrono::nanoseconds start_timeout = {};
  // The longest that a call waits for another rank. 0: as TUTTI_TIMEOUT says, 5 minutes unless it is set.
  std::chrono::nanoseconds timeout = {};
  // The most memory that each rank takes for the communicator, in bytes, as memory() counts it; the same on all ranks,
  // and of communicators that are made from this one. 0: as TUTTI_MEMORY_LIMIT says, none unless it is set.
  std::size_t memory_limit = 0;
  // Instead of the planner's choice, for tests and measurements: an algorithm as `tutti plan list` names it.
  std::string algorithm = {};
  // What the planner may choose from, the same on all ranks; anything for collectives that are not here. Where none of
  // them can run, it chooses freely and the log has a warning, which names `allowed_by`: whose wish it is.
  std::vector<AllowedAlgorithms> allowed = {};
  std::string allowed_by = {};
};

struct MemoryUse {
  std::size_t shared_bytes = 0;   // of this rank, mapped by its peers: signals, staging
  std::size_t private_bytes = 0;  // prepared plans and the like
};

// One rank's side of a communicator. Calls may come from any thread; those of one communicator run one after the other
// in the order they were made, which must be the same on every rank. Calls block their own thread, where the work is
// done; submit() hands it to a stream. A failure whose scope is `communicator` ends it for all its ranks: what
// waits and what comes later fails with the same sentence.
class Communicator {
 public:
  // Meets the other ranks through a store. Each rank, in this process or another, calls this once.
  static Result<Communicator> create(const CommunicatorOptions& options);
  // All ranks in this process, one per element, for threads. Options but rank, size and store are used.
  static Result<std::vector<Communicator>> create_local(Rank size, const CommunicatorOptions& options = {});

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  Rank rank() const;
  Rank size() const;

  // One call, finished when this returns. Send and receive take only the two ranks, the other collectives all.
  Status run(const Call& call);
  // The same on a stream. Buffers (and what the call points to) stay untouched until the work is done.
  Work submit(const Call& call, Stream& stream);

  template <Element T>
  Status all_reduce(std::span<const T> in, std::span<T> out, Reduction reduction = {});
  template <Element T>
  Status all_reduce(std::span<T> data, Reduction reduction = {});  // in place
  template <Element T>
  Status all_gather(std::span<const T> in, std::span<T> out);
  template <Element T>
  Status reduce_scatter(std::span<const T> in, std::span<T> out, Reduction reduction = {});
  template <Element T>
  Status broadcast(std::span<T> data, Rank root);
  template <Element T>
  Status reduce(std::span<const T> in, std::span<T> out, Rank root, Reduction reduction = {});  // out: of the root
  template <Element T>
  Status gather(std::span<const T> in, std::span<T> out, Rank root);  // out: of the root
  template <Element T>
  Status scatter(std::span<const T> in, std::span<T> out, Rank root);  // in: of the root
  template <Element T>
  Status all_to_all(std::span<const T> in, std::span<T> out);
  template <Element T>
  Status send(std::span<const T> data, Rank to);
  template <Element T>
  Status receive(std::span<T> data, Rank from);
  Status barrier();

  // The variable-count forms; counts as in Call.
  template <Element T>
  Status all_gather_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts);
  template <Element T>
  Status reduce_scatter_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts,
                          Reduction reduction = {});
  template <Element T>
  Status gather_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts, Rank root);
  template <Element T>
  Status scatter_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts, Rank root);
  template <Element T>
  Status all_to_all_v(std::span<const T> in, std::span<T> out, std::span<const std::uint64_t> counts);

  // A communicator of those ranks that give the same colour, ordered by key, then by rank. A collective call. Ranks
  // that give kNoColor get nothing.
  static constexpr int kNoColor = -1;
  Result<std::optional<Communicator>> split(int color, int key = 0);

  // The ranks that are left as a communicator of their own, in the order of their ranks here. All of them call this,
  // usually because this communicator has ended with peer_lost; it has ended in any case when this returns. They agree
  // on who they are although messages get lost. For communicators that were started with an Identifier, and those that
  // were split off such. Should one more be lost, this may be called again, here or on what it returned; on one of the
  // two by all.
  Result<Communicator> shrink(std::chrono::nanoseconds timeout = std::chrono::seconds(5));
  // A communicator of these ranks, which keep their ranks, and of newcomers, who call create() with the same identifier
  // and size. All ranks of this one call this.
  Result<Communicator> grow(const Identifier& identifier, Rank size);

  // Ends every call that waits here or on any other rank, and all later ones, with this reason. From any thread, any
  // number of times; the first reason stays.
  void abort(const Status& why) noexcept;
  // Success, or why this communicator has ended.
  Status health() const;

  MemoryUse memory() const;
  // How a call like this would run and why, in a few lines. Changes nothing and talks to nobody.
  Result<std::string> explain(const Call& call) const;
  // The plan of the last finished call, such as "direct" or "staged": for measurements.
  std::string last_plan() const;

 private:
  friend class Group;
  struct State;
  explicit Communicator(std::unique_ptr<State> state);
  Status run_checked(const Call& call, std::uint64_t in_elements, std::uint64_t out_elements);
  std::unique_ptr<State> state_;
};

// Calls that run together: they may be of several communicators and in any order between ranks, where one after the
// other would wait for ever (send to and receive from each other, or two communicators in different orders).
class Group {
 public:
  void add(Communicator& communicator, const Call& call);
  template <Element T>
  void send(Communicator& communicator, std::span<const T> data, Rank to);
  template <Element T>
  void receive(Communicator& communicator, std::span<T> data, Rank from);
  // Runs all, on this thread; the first failure. The group is empty afterwards.
  Status run();
  Work submit(Stream& stream);

 private:
  struct Entry {
    Communicator* communicator;
    Call call;
  };
  Result<std::vector<comm::Entry>> take();
  std::vector<Entry> entries_;
};

}  // namespace tutti

#include "tutti/communicator_calls.h"  // the typed calls in terms of run()
