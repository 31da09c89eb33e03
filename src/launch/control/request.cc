#include "launch/control/request.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>

#include "launch/control/json_fields.h"

namespace tutti::launch::control {

namespace {

constexpr std::array<std::string_view, 5> kAsks = {"status", "samples", "stop", "kill", "signal"};

std::optional<Ask> ask_of(std::string_view name) {
  for (std::size_t i = 0; i < kAsks.size(); ++i) {
    if (kAsks[i] == name) return static_cast<Ask>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string line_of(const Request& request) {
  Json json;
  json["ask"] = kAsks[static_cast<std::size_t>(request.ask)];
  if (request.ask == Ask::signal) {
    json["signal"] = request.signal;
    if (request.rank != kNoRank) json["rank"] = request.rank;
  }
  return line_of(json);
}

Result<Request> parse_request(std::string_view line) {
  if (line.size() > kRequestBytesMax) {
    return invalid_argument(
        fmt::format("the request has {} bytes, at most {} are taken", line.size(), kRequestBytesMax));
  }
  const Json tree = Json::parse(line, nullptr, false);
  if (tree.is_discarded()) return invalid_argument("the request is no JSON");
  JsonFields fields(tree, "the request");
  const auto ask = ask_of(fields.text("ask"));
  if (!ask) fields.fail("asks for something unknown; known are status, samples, stop, kill and signal");
  TUTTI_TRY(fields.status());
  Request request{.ask = *ask};
  if (*ask == Ask::signal) {
    request.signal = static_cast<std::int32_t>(fields.integer("signal", 1, kSignalMax));
    if (fields.has("rank")) {
      request.rank = static_cast<Rank>(fields.integer("rank", 0, std::numeric_limits<Rank>::max()));
    }
  }
  TUTTI_TRY(fields.status());
  return request;
}

}  // namespace tutti::launch::control
