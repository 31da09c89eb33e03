#include "comm/watch/json.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "comm/watch/diagnose.h"

namespace tutti::comm::watch {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "tutti-recording";
constexpr std::string_view kAlive = "alive";
constexpr std::string_view kLeft = "left";
constexpr std::string_view kEnded = "ended";

// Numbers of 64 bits that are no quantities: programs that read JSON into doubles would round them.
std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::optional<std::uint64_t> number_of_hex(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

Code code_of(std::string_view name) {
  for (int i = 0; i < static_cast<int>(Code::internal); ++i) {
    if (name == tutti::name_of(static_cast<Code>(i))) return static_cast<Code>(i);
  }
  return Code::internal;
}

Json json_of(const RecordedCall& call) {
  const CallWords words = words_of(call.key);
  Json json;
  json["track"] = call.other == kNoRank ? "collective" : call.is_sender ? "to" : "from";
  if (call.other != kNoRank) json["other"] = call.other;
  json["number"] = call.number;
  json["state"] = name_of(call.state);
  json["kind"] = words.kind;
  if (!words.type.empty()) json["type"] = words.type;
  if (!words.operation.empty()) json["operation"] = words.operation;
  if (words.root && call.other == kNoRank) json["root"] = *words.root;
  json["count"] = call.key.count;
  json["bytes"] = call.bytes;
  if (!call.plan.empty()) json["plan"] = call.plan;
  json["started_s"] = call.started_s;
  if (call.finished_s) json["finished_s"] = *call.finished_s;
  if (call.waits_for != kNoRank) json["waits_for"] = call.waits_for;
  json["key"] = hex(call.key.what) + hex(call.key.detail);
  return json;
}

Json tree_of(const Recording& recording) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kJsonVersion;
  json["communicator"] = hex(recording.communicator);
  json["rank"] = recording.rank;
  json["size"] = recording.size;
  json["host"] = recording.host;
  json["pid"] = recording.pid;
  json["program"] = recording.program;
  json["state"] = recording.ended ? kEnded : recording.life == Life::left ? kLeft : kAlive;
  if (recording.ended) {
    json["code"] = name_of(*recording.ended);
    json["reason"] = recording.reason;
  }
  json["taken_s"] = recording.taken_s;
  json["members"] = Json::array();
  for (const RecordedMember& member : recording.members) {
    json["members"].push_back({{"pid", member.pid}, {"host", member.host}});
  }
  return json;
}

// Text from /proc may be in any encoding: what is not UTF-8 is replaced.
std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// A line for each field and for each call, so that people and line-wise tools can read it too.
std::string text_of(const Recording& recording) {
  const Json tree = tree_of(recording);
  std::string text = "{";
  for (const auto& [name, value] : tree.items()) {
    text += fmt::format("\n \"{}\": {},", name, line_of(value));
  }
  text += "\n \"calls\": [";
  for (const RecordedCall& call : recording.calls) {
    text += fmt::format("{}\n  {}", &call == recording.calls.data() ? "" : ",", line_of(json_of(call)));
  }
  return text + "]\n}";
}

// Takes fields out of an object; the first that is missing or of another kind is remembered.
class Fields {
 public:
  Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("is no object");
  }

  std::string text(const char* name, bool is_needed = true) {
    const Json* field = find(name, is_needed);
    if (field == nullptr) return {};
    if (field->is_string()) return field->get<std::string>();
    fail(fmt::format("has a '{}' that is no text", name));
    return {};
  }
  std::int64_t integer(const char* name, std::int64_t low, std::int64_t high, std::int64_t otherwise = -1) {
    const Json* field = find(name, otherwise < 0);
    if (field == nullptr) return otherwise < 0 ? low : otherwise;
    if (field->is_number_integer() && (!field->is_number_unsigned() || field->get<std::uint64_t>() <= kMax)) {
      const auto value = field->get<std::int64_t>();
      if (value >= low && value <= high) return value;
    }
    fail(fmt::format("has a '{}' that is no whole number from {} to {}", name, low, high));
    return low;
  }
  std::optional<double> real(const char* name, bool is_needed) {
    const Json* field = find(name, is_needed);
    if (field == nullptr) return std::nullopt;
    if (field->is_number()) return field->get<double>();
    fail(fmt::format("has a '{}' that is no number", name));
    return std::nullopt;
  }
  const Json& array(const char* name) {
    static const Json kNothing = Json::array();
    const Json* field = find(name, true);
    if (field != nullptr && field->is_array()) return *field;
    if (field != nullptr) fail(fmt::format("has '{}' that are no array", name));
    return kNothing;
  }
  bool has(const char* name) const { return object_.is_object() && object_.contains(name); }
  void fail(const std::string& what) {
    if (status_) status_ = invalid_argument(fmt::format("{} {}", where_, what));
  }
  Status status() const { return status_; }

 private:
  static constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();

  const Json* find(const char* name, bool is_needed) {
    if (has(name)) return &object_[name];
    if (is_needed) fail(fmt::format("has no '{}'", name));
    return nullptr;
  }

  const Json& object_;
  std::string where_;
  Status status_;
};

constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();

Result<RecordedCall> parse_call(const Json& json, std::size_t index, Rank size) {
  Fields fields(json, fmt::format("call {} of the list", index));
  RecordedCall call;
  const std::string track = fields.text("track");
  if (track != "collective" && track != "to" && track != "from") fields.fail("is on an unknown track");
  if (track == "to" || track == "from") call.other = static_cast<Rank>(fields.integer("other", 0, size - 1));
  call.is_sender = track == "to";
  call.number = static_cast<std::uint32_t>(fields.integer("number", 0, std::numeric_limits<std::uint32_t>::max()));
  const auto state = call_state_of(fields.text("state"));
  if (!state) fields.fail("has an unknown 'state'");
  call.state = state.value_or(CallState::none);
  call.bytes = static_cast<std::uint64_t>(fields.integer("bytes", 0, std::numeric_limits<std::int64_t>::max()));
  call.key.count = static_cast<std::uint64_t>(fields.integer("count", 0, std::numeric_limits<std::int64_t>::max()));
  call.plan = fields.text("plan", false);
  call.started_s = fields.real("started_s", true).value_or(0);
  call.finished_s = fields.real("finished_s", false);
  if (fields.has("waits_for")) call.waits_for = static_cast<Rank>(fields.integer("waits_for", 0, size - 1));
  const std::string key = fields.text("key");
  const auto what = number_of_hex(key.substr(0, 16));
  const auto detail = number_of_hex(key.size() == 32 ? key.substr(16) : "");
  if (!what || !detail) fields.fail("has a 'key' that is not 32 hexadecimal digits");
  TUTTI_TRY(fields.status());
  call.key.what = *what;
  call.key.detail = *detail;
  return call;
}

Result<Recording> parse_tree(const Json& json) {
  Fields fields(json, "the recording");
  if (fields.text("format") != kFormat) fields.fail(fmt::format("is not of the format '{}'", kFormat));
  TUTTI_TRY(fields.status());
  if (const auto version = fields.integer("version", 0, kIntMax); version != kJsonVersion) {
    return Status(Code::unsupported,
                  fmt::format("the recording has version {}, this tutti reads {}", version, kJsonVersion));
  }
  Recording recording;
  const auto communicator = number_of_hex(fields.text("communicator"));
  if (!communicator) fields.fail("has a 'communicator' that is no hexadecimal number");
  recording.communicator = communicator.value_or(0);
  recording.size = static_cast<Rank>(fields.integer("size", 1, kRanksMax));
  recording.rank = static_cast<Rank>(fields.integer("rank", 0, recording.size - 1));
  recording.host = fields.text("host");
  recording.pid = static_cast<int>(fields.integer("pid", 0, kIntMax));
  recording.program = fields.text("program", false);
  recording.taken_s = fields.real("taken_s", true).value_or(0);
  const std::string state = fields.text("state");
  if (state != kAlive && state != kLeft && state != kEnded) fields.fail("has an unknown 'state'");
  if (state == kLeft) recording.life = Life::left;
  if (state == kEnded) {
    recording.ended = code_of(fields.text("code"));
    recording.reason = fields.text("reason");
  }
  const Json& members = fields.array("members");
  const Json& calls = fields.array("calls");
  if (members.size() > static_cast<std::size_t>(recording.size)) fields.fail("has more 'members' than its 'size'");
  if (calls.size() > 2 * kRing) fields.fail("has more 'calls' than a recorder holds");
  TUTTI_TRY(fields.status());
  for (const Json& each : members) {
    Fields member(each, fmt::format("member {}", recording.members.size()));
    recording.members.push_back({static_cast<int>(member.integer("pid", 0, kIntMax)), member.text("host")});
    TUTTI_TRY(member.status());
  }
  for (const Json& each : calls) {
    TUTTI_ASSIGN(auto call, parse_call(each, recording.calls.size(), recording.size));
    recording.calls.push_back(std::move(call));
  }
  return recording;
}

}  // namespace

std::string json_of(const Recording& recording) { return text_of(recording) + "\n"; }

std::string json_of(std::span<const Recording> recordings) {
  std::string text = "[";
  for (const Recording& recording : recordings) {
    text += fmt::format("{}\n{}", &recording == recordings.data() ? "" : ",", text_of(recording));
  }
  return text + "]\n";
}

Result<std::vector<Recording>> parse_recordings(std::string_view json) {
  const Json tree = Json::parse(json, nullptr, false);
  if (tree.is_discarded()) return invalid_argument("the text is no JSON; it may have been cut off");
  std::vector<Recording> recordings;
  if (!tree.is_array()) {
    TUTTI_ASSIGN(recordings.emplace_back(), parse_tree(tree));
    return recordings;
  }
  for (const Json& each : tree) {
    TUTTI_ASSIGN(auto recording, parse_tree(each));
    recordings.push_back(std::move(recording));
  }
  return recordings;
}

std::string json_of(std::span<const Job> jobs, std::span<const Finding> findings) {
  Json json;
  json["format"] = "tutti-diagnosis";
  json["version"] = kJsonVersion;
  json["communicators"] = Json::array();
  for (const Job& job : jobs) {
    json["communicators"].push_back(
        {{"communicator", hex(job.communicator)}, {"size", job.size}, {"missing", job.missing}});
  }
  json["findings"] = Json::array();
  for (const Finding& finding : findings) {
    Json each;
    each["communicator"] = hex(finding.communicator);
    each["trouble"] = name_of(finding.trouble);
    each["ranks"] = finding.ranks;
    each["call"] = finding.call;
    each["text"] = finding.text;
    json["findings"].push_back(std::move(each));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::comm::watch
