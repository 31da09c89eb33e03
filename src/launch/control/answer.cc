#include "launch/control/answer.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "launch/control/json_fields.h"

namespace tutti::launch {

namespace {

constexpr std::array<std::string_view, 3> kJobStates = {"starting", "running", "stopping"};
constexpr std::array<std::string_view, 4> kRankStates = {"starting", "running", "ended", "lost"};

}  // namespace

std::string_view name_of(JobState state) { return kJobStates[static_cast<std::size_t>(state)]; }
std::string_view name_of(RankState state) { return kRankStates[static_cast<std::size_t>(state)]; }

namespace control {

namespace {

constexpr int kVersion = 1;
constexpr double kAgeMax = 1e9;  // seconds: thirty years
constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLongMax = std::numeric_limits<std::int64_t>::max();

template <class State, std::size_t kCount>
State state_of(JsonFields& fields, const std::array<std::string_view, kCount>& names) {
  const std::string name = fields.text("state");
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<State>(i);
  }
  fields.fail("has an unknown 'state'");
  return {};
}

Json tree_of(const Sample& sample) {
  Json json;
  json["pid"] = sample.pid;
  json["cpu_permille"] = sample.cpu_permille;
  json["memory_bytes"] = sample.memory_bytes;
  json["call"] = sample.call;
  json["waits_for"] = sample.waits_for;
  json["bytes_per_s"] = sample.bytes_per_s;
  return json;
}

Json tree_of(const RankStatus& rank) {
  Json json;
  json["rank"] = rank.rank;
  json["host"] = rank.host;
  json["pid"] = rank.pid;
  json["state"] = name_of(rank.state);
  if (rank.state == RankState::ended) {
    if (rank.signal != 0) json["signal"] = rank.signal;
    if (rank.signal == 0) json["code"] = rank.code;
  }
  if (rank.sample) json["sample"] = tree_of(*rank.sample);
  return json;
}

double age_s(const JobStatus& job, Time now) {
  const std::uint64_t age_ns = now > job.started ? now.ns - job.started.ns : 0;
  return std::min(std::round(static_cast<double>(age_ns) / 1e6) / 1e3, kAgeMax);  // whole milliseconds
}

Json tree_of(const JobStatus& job, Time now) {
  Json json;
  json["format"] = "tutti-job";
  json["version"] = kVersion;
  json["name"] = job.name;
  json["command"] = job.command;
  json["folder"] = job.folder;
  json["pid"] = job.pid;
  json["age_s"] = age_s(job, now);
  json["state"] = name_of(job.state);
  json["ranks"] = Json::array();
  for (const RankStatus& rank : job.ranks) json["ranks"].push_back(tree_of(rank));
  return json;
}

Result<Sample> parse_sample(const Json& json, Rank rank) {
  JsonFields fields(json, fmt::format("the sample of rank {}", rank));
  Sample sample;
  sample.rank = rank;
  sample.pid = static_cast<std::int32_t>(fields.integer("pid", 0, kIntMax));
  sample.cpu_permille = static_cast<std::uint32_t>(fields.integer("cpu_permille", 0, kIntMax));
  sample.memory_bytes = static_cast<std::uint64_t>(fields.integer("memory_bytes", 0, kLongMax));
  sample.call = fields.text("call");
  sample.waits_for = fields.text("waits_for");
  sample.bytes_per_s = static_cast<std::uint64_t>(fields.integer("bytes_per_s", 0, kLongMax));
  TUTTI_TRY(fields.status());
  return sample;
}

Result<RankStatus> parse_rank(const Json& json) {
  JsonFields fields(json, "a rank of the job");
  RankStatus rank;
  rank.rank = static_cast<Rank>(fields.integer("rank", 0, std::numeric_limits<Rank>::max()));
  rank.host = fields.text("host");
  rank.pid = static_cast<std::int32_t>(fields.integer("pid", 0, kIntMax));
  rank.state = state_of<RankState>(fields, kRankStates);
  if (rank.state == RankState::ended) {
    if (fields.has("signal")) rank.signal = static_cast<std::int32_t>(fields.integer("signal", 1, kIntMax));
    if (!fields.has("signal")) rank.code = static_cast<std::int32_t>(fields.integer("code", 0, kIntMax));
  }
  TUTTI_TRY(fields.status());
  if (fields.has("sample")) {
    TUTTI_ASSIGN(rank.sample, parse_sample(fields.object("sample"), rank.rank));
  }
  return rank;
}

Result<JobStatus> parse_job(const Json& json, Time now) {
  JsonFields fields(json, "the job");
  if (fields.text("format") != "tutti-job") fields.fail("is not of the format 'tutti-job'");
  TUTTI_TRY(fields.status());
  if (const auto version = fields.integer("version", 0, kIntMax); version != kVersion) {
    return Status(Code::unsupported, fmt::format("the job's launcher answers in version {}, this tutti reads {}; use "
                                                 "the tutti that started the job",
                                                 version, kVersion));
  }
  JobStatus job;
  job.name = fields.text("name");
  job.folder = fields.text("folder");
  job.pid = static_cast<std::int32_t>(fields.integer("pid", 0, kIntMax));
  const auto age_ns = static_cast<std::uint64_t>(std::llround(fields.real("age_s", 0, kAgeMax) * 1e3)) * 1'000'000;
  job.started = {now.ns > age_ns ? now.ns - age_ns : 0};
  job.state = state_of<JobState>(fields, kJobStates);
  for (const Json& word : fields.array("command")) {
    if (!word.is_string()) fields.fail("has a 'command' of which not all words are text");
    if (word.is_string()) job.command.push_back(word.get<std::string>());
  }
  TUTTI_TRY(fields.status());
  for (const Json& each : fields.array("ranks")) {
    TUTTI_ASSIGN(job.ranks.emplace_back(), parse_rank(each));
  }
  TUTTI_TRY(fields.status());
  return job;
}

}  // namespace

std::string line_of(const Answer& answer, Time now) {
  Json json;
  if (!answer.failure) {
    json["answer"] = "error";
    json["text"] = answer.failure.text();
  } else if (answer.job) {
    json["answer"] = "job";
    json["job"] = tree_of(*answer.job, now);
  } else {
    json["answer"] = "done";
  }
  return line_of(json);
}

Result<Answer> parse_answer(std::string_view line, Time now) {
  const Json tree = Json::parse(line, nullptr, false);
  if (tree.is_discarded()) return invalid_argument("the answer is no JSON; it may have been cut off");
  JsonFields fields(tree, "the answer");
  const std::string kind = fields.text("answer");
  Answer answer;
  if (kind == "error") {
    const std::string text = fields.text("text");
    answer.failure = invalid_argument(text);
  } else if (kind == "job") {
    const Json& job = fields.object("job");
    TUTTI_TRY(fields.status());
    TUTTI_ASSIGN(answer.job, parse_job(job, now));
  } else if (kind != "done") {
    fields.fail("is of an unknown kind");
  }
  TUTTI_TRY(fields.status());
  return answer;
}

std::string json_of(const JobStatus& job, Time now, int indent) {
  return tree_of(job, now).dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_of(const std::vector<JobStatus>& jobs, Time now, int indent) {
  Json json = Json::array();
  for (const JobStatus& job : jobs) json.push_back(tree_of(job, now));
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace control

}  // namespace tutti::launch
