// TF_CONFIG, in which TensorFlow is told its cluster and its task as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "bootstrap/env/claim.h"

namespace tutti::bootstrap {
namespace {

using nlohmann::json;

constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;
constexpr std::size_t kTasksMax = 65'536;

Status malformed(std::string_view why) {
  return invalid_argument(fmt::format(
      "TF_CONFIG {}; it looks like {{\"cluster\": {{\"worker\": [\"host1:4000\", \"host2:4000\"]}}, \"task\": "
      "{{\"type\": \"worker\", \"index\": 0}}}}, or take it away with 'env -u TF_CONFIG'",
      why));
}

struct Task {
  std::string type;
  std::size_t index = 0;
};

// The member of an object, or nullptr.
const json* find_member(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

Result<Task> task_of(const json& config) {
  const json* task = find_member(config, "task");
  if (task == nullptr) return malformed("has no \"task\"");
  const json* type = find_member(*task, "type");
  const json* index = find_member(*task, "index");
  if (type == nullptr || !type->is_string()) return malformed("has a task without a \"type\"");
  if (index == nullptr || !index->is_number_unsigned()) return malformed("has a task without an \"index\"");
  return Task{type->get<std::string>(), index->get<std::size_t>()};
}

Result<std::vector<std::string>> addresses_of(const json& cluster, const char* type) {
  std::vector<std::string> addresses;
  const json* list = find_member(cluster, type);
  if (list == nullptr) return addresses;
  if (!list->is_array() || list->size() > kTasksMax) return malformed(fmt::format("has no list of \"{}\"", type));
  for (const json& address : *list) {
    if (!address.is_string()) return malformed(fmt::format("has a \"{}\" that is no \"host:port\"", type));
    addresses.push_back(address.get<std::string>());
  }
  return addresses;
}

std::string_view host_of(std::string_view address) {
  const std::string_view host = address.substr(0, address.rfind(':'));
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

// Chiefs come before workers; parameter servers and evaluators take no part in collectives.
Result<Claim> claim_of(const json& cluster, const Task& task) {
  std::vector<std::string> all;
  std::optional<std::size_t> rank;
  for (const char* type : {"chief", "master", "worker"}) {
    TUTTI_ASSIGN(const auto addresses, addresses_of(cluster, type));
    if (task.type == type && task.index < addresses.size()) rank = all.size() + task.index;
    all.insert(all.end(), addresses.begin(), addresses.end());
  }
  if (!rank) {
    return malformed(fmt::format("names this task '{} {}', which is none of the cluster's {} chiefs and workers",
                                 task.type.substr(0, 20), task.index, all.size()));
  }
  Claim claim;
  Launch& launch = claim.launch;
  launch.launcher = "TF_CONFIG";
  launch.rank = static_cast<Rank>(*rank);
  launch.size = static_cast<Rank>(all.size());
  launch.has_local_place = true;
  launch.local_size = 0;
  for (std::size_t other = 0; other < all.size(); ++other) {
    if (host_of(all[other]) != host_of(all[*rank])) continue;
    if (other == *rank) launch.local_rank = launch.local_size;
    ++launch.local_size;
  }
  launch.job = fmt::format("tensorflow-{}", fmt::join(all, ","));
  launch.address = meeting_address(host_of(all.front()), port_of(launch.job));
  claim.evidence =
      fmt::format("TF_CONFIG with task {} {}, rank {} of {}", task.type, task.index, launch.rank, launch.size);
  claim.names = {"TF_CONFIG"};
  return claim;
}

}  // namespace

Result<std::optional<Claim>> tensorflow_claim(const Variables& variables) {
  const auto text = variables.text("TF_CONFIG");
  if (!text) return std::optional<Claim>();
  if (text->size() > kTextBytesMax) return malformed(fmt::format("has more than {} bytes", kTextBytesMax));
  const json config = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) return malformed("is no JSON object");
  const json* cluster = find_member(config, "cluster");
  if (cluster == nullptr || cluster->empty()) return std::optional<Claim>();  // TensorFlow takes it for a process alone
  TUTTI_ASSIGN(const Task task, task_of(config));
  TUTTI_ASSIGN(Claim claim, claim_of(*cluster, task));
  return std::optional(std::move(claim));
}

}  // namespace tutti::bootstrap
