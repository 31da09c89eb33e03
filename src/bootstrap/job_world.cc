#include "bootstrap/job_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace tutti::bootstrap {
namespace {

// What stands under the key of a generation.
constexpr std::uint8_t kIsWorld = 1;
constexpr std::uint8_t kIsClosed = 2;  // instead of the world that would have come

constexpr std::string_view kNewestKey = "world/newest";
constexpr std::string_view kFailedKey = "world/failed";

std::string key_of(int generation) { return fmt::format("world/{}", generation); }

Status malformed(std::string_view what) {
  return {Code::network, fmt::format("the launcher's store has a world that cannot be read: {}", what)};
}

void append_text(Bytes& to, std::string_view text) { append_counted(to, bytes_of(text)); }

bool read_text(ByteReader& reader, std::string& text) {
  const auto bytes = reader.counted(kWorldTextBytesMax);
  if (bytes) text = text_of(*bytes);
  return bytes.has_value();
}

bool read_member(ByteReader& reader, WorldMember& member) {
  return reader.read(member.worker) && read_text(reader, member.host) && reader.read(member.slot) &&
         reader.read(member.joined) && member.worker >= 0 && member.slot >= 0;
}

Result<std::optional<int>> generation_at(Store& store, std::string_view key) {
  TUTTI_ASSIGN(const auto value, store.get(key));
  if (!value) return std::optional<int>();
  const auto generation = text::integer_of<int>(text_of(*value));
  if (!generation || *generation < 0) return malformed(fmt::format("'{}' is no generation", text_of(*value)));
  return generation;
}

Result<JobWorld> world_at(Store& store, int generation) {
  TUTTI_ASSIGN(const auto value, store.get(key_of(generation)));
  if (!value) return malformed(fmt::format("generation {} is not there", generation));
  return parse_job_world(*value);
}

Result<int> number_of(const EnvironmentLookup& environment, std::string_view name) {
  const auto value = environment(name);
  if (!value || value->empty()) {
    return Status(Code::invalid_usage, fmt::format("{} is missing, though other variables of an elastic job are set; "
                                                   "start the program with 'tutti run --min-np'",
                                                   name));
  }
  const auto number = text::integer_of<int>(*value);
  if (!number || *number < 0) {
    return Status(Code::invalid_usage,
                  fmt::format("{}={} is no number from 0 on; leave it to the launcher", name, *value));
  }
  return *number;
}

}  // namespace

Rank JobWorld::rank_of(WorkerId worker) const {
  const auto found = std::ranges::find(members, worker, &WorldMember::worker);
  return found == members.end() ? kNoRank : static_cast<Rank>(found - members.begin());
}

Bytes encode(const JobWorld& world) {
  Bytes bytes;
  append_number(bytes, kIsWorld);
  append_number(bytes, world.generation);
  append_text(bytes, world.store);
  append_number(bytes, static_cast<std::uint32_t>(world.members.size()));
  for (const WorldMember& member : world.members) {
    append_number(bytes, member.worker);
    append_text(bytes, member.host);
    append_number(bytes, member.slot);
    append_number(bytes, member.joined);
  }
  return bytes;
}

Result<JobWorld> parse_job_world(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  JobWorld world;
  std::uint8_t kind = 0;
  std::uint32_t count = 0;
  if (!reader.read(kind)) return malformed("it is empty");
  if (kind == kIsClosed)
    return Status(Code::aborted, fmt::format("the launcher has ended the job: {}", text_of(reader.rest())));
  if (kind != kIsWorld) return malformed(fmt::format("its kind is {}", kind));
  if (!reader.read(world.generation) || world.generation < 0 || !read_text(reader, world.store) || !reader.read(count))
    return malformed("its beginning");
  if (count > kWorldMembersMax) return malformed(fmt::format("{} members are too many", count));
  for (std::uint32_t index = 0; index < count; ++index) {
    if (!read_member(reader, world.members.emplace_back())) return malformed(fmt::format("member {}", index));
  }
  if (!reader.rest().empty()) return malformed("bytes behind its end");
  return world;
}

Result<std::optional<WorkerPlace>> worker_place_of(const EnvironmentLookup& environment) {
  const auto is_set = [&](std::string_view name) {
    const auto value = environment(name);
    return value && !value->empty();
  };
  if (!is_set(kWorkerVariable) && !is_set(kGenerationVariable)) return std::optional<WorkerPlace>();
  WorkerPlace place;
  TUTTI_ASSIGN(place.worker, number_of(environment, kWorkerVariable));
  TUTTI_ASSIGN(place.first_generation, number_of(environment, kGenerationVariable));
  place.store = environment(kJobStoreVariable).value_or("");
  if (place.store.empty()) {
    return Status(Code::invalid_usage, fmt::format("{} is missing, though {} is set; leave both to the launcher",
                                                   kJobStoreVariable, kWorkerVariable));
  }
  return std::optional(std::move(place));
}

Status publish_world(Store& store, const JobWorld& world) {
  TUTTI_TRY(store.set(kNewestKey, bytes_of(fmt::format("{}", world.generation))));
  return store.set(key_of(world.generation), encode(world));  // last: this is what others wait for
}

Status close_worlds(Store& store, std::string_view why) {
  TUTTI_ASSIGN(const auto newest, generation_at(store, kNewestKey));
  Bytes bytes;
  append_number(bytes, kIsClosed);
  append(bytes, bytes_of(why));
  return store.set(key_of(newest.value_or(-1) + 1), bytes);
}

Result<int> reported_generation(Store& store) {
  TUTTI_ASSIGN(const auto reported, generation_at(store, kFailedKey));
  return reported.value_or(-1);
}

Result<std::optional<JobWorld>> current_world(Store& store) {
  TUTTI_ASSIGN(const auto newest, generation_at(store, kNewestKey));
  if (!newest) return std::optional<JobWorld>();
  // The launcher names a generation just before it leaves it there.
  TUTTI_ASSIGN(const auto value, store.get(key_of(*newest)));
  if (!value && *newest == 0) return std::optional<JobWorld>();
  TUTTI_ASSIGN(auto world, world_at(store, value ? *newest : *newest - 1));
  return std::optional(std::move(world));
}

namespace {

Result<JobWorld> next_world(Store& store, int after_generation, Deadline deadline) {
  const int next = after_generation + 1;
  auto value = store.wait(key_of(next), deadline);
  if (!value && value.status().code() == Code::timed_out) {
    return Status(
        Code::timed_out,
        fmt::format("the launcher has formed no world {} in time; its own messages say what it waits for", next));
  }
  if (!value) return value.status().while_doing(fmt::format("waiting for world {} of the launcher", next));
  TUTTI_ASSIGN(auto world, parse_job_world(*value));
  TUTTI_ASSIGN(auto newest, current_world(store));
  return newest && newest->generation > world.generation ? *std::move(newest) : std::move(world);
}

}  // namespace

Result<JobWorld> await_world(Store& store, WorkerId worker, int after_generation, Deadline deadline) {
  TUTTI_ASSIGN(JobWorld world, next_world(store, after_generation, deadline));
  // Worlds may have been formed without a newcomer that was slow to start.
  while (after_generation < 0 && world.rank_of(worker) == kNoRank) {
    TUTTI_ASSIGN(world, next_world(store, world.generation, deadline));
  }
  return world;
}

Result<bool> has_newer_world(Store& store, int generation) {
  TUTTI_ASSIGN(const auto value, store.get(key_of(generation + 1)));
  return value.has_value();
}

Status report_failure(Store& store, int generation) {
  for (;;) {  // ends: every failed turn means that somebody has reported a newer world than before
    TUTTI_ASSIGN(const int reported, reported_generation(store));
    if (reported >= generation) return {};
    const std::string before = reported < 0 ? std::string() : fmt::format("{}", reported);
    const std::string mine = fmt::format("{}", generation);
    TUTTI_ASSIGN(const Bytes after, store.compare_and_swap(kFailedKey, bytes_of(before), bytes_of(mine)));
    if (text_of(after) == mine) return {};
  }
}

}  // namespace tutti::bootstrap
