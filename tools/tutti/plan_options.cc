#include "tools/tutti/plan_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"

namespace tutti::tool {

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  for (const plan::Collective collective : plan::kCollectives) {
    names.emplace_back(plan::name_of(collective));
    if (plan::has_variable_form(collective)) names.push_back(names.back() + "_v");
  }
  return names;
}

std::vector<std::string> reach_names() {
  std::vector<std::string> names;
  for (const plan::Reach reach : plan::kReaches) names.emplace_back(plan::name_of(reach));
  return names;
}

std::vector<std::string> algorithm_names() {
  std::set<std::string> names;
  for (const plan::Algorithm& algorithm : plan::algorithms()) names.emplace(algorithm.name);
  return {names.begin(), names.end()};
}

Result<const plan::Algorithm*> find_algorithm(const std::string& name, plan::Collective collective) {
  if (const auto* found = plan::find_algorithm(name, collective)) return found;
  std::vector<std::string> known;
  for (const plan::Algorithm& algorithm : plan::algorithms()) {
    if (algorithm.collective == collective) known.emplace_back(algorithm.name);
  }
  return invalid_argument(fmt::format("there is no algorithm '{}' for {}; there are {}", name,
                                      plan::name_of(collective), fmt::join(known, ", ")));
}

void add_shape_options(CLI::App& command, ShapeOptions& options) {
  command.add_option("--collective", options.collective, "What the ranks do together")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(one_of(collective_names()));
  command.add_option("--algorithm", options.algorithm, "How they do it; 'tutti plan list' shows all")
      ->type_name("NAME")
      ->check(one_of(algorithm_names()));
  command.add_option("--ranks", options.ranks, "How many ranks take part")->type_name("N")->capture_default_str();
  command.add_option("--lanes", options.lanes, "Lanes that share the data")->type_name("N")->capture_default_str();
  command.add_option("--root", options.root, "The root, or the sender of send_receive")->type_name("RANK");
  command.add_option("--peer", options.peer, "The receiver of send_receive")->type_name("RANK");
  command.add_option("--hosts", options.hosts, "Ranks on each host, such as 4,4,2; they add up to --ranks")
      ->type_name("LIST");
  command
      .add_option("--reach", options.reach,
                  "What ranks of one host may do with each other's memory; alone it means full, without it none")
      ->type_name("LEVEL")
      ->expected(0, 1)
      ->default_str("full")
      ->check(one_of(reach_names()));
  command.add_flag("--in-place", options.in_place, "Input and output are the same memory");
}

Result<plan::Shape> shape_of(const ShapeOptions& options) {
  plan::Shape shape;
  shape.collective = *plan::collective_of(options.collective);
  shape.ranks = options.ranks;
  shape.lanes = options.lanes;
  shape.root = options.root;
  shape.peer = shape.collective == plan::Collective::send_receive ? options.peer : 0;
  shape.reach = *plan::reach_of(options.reach);
  shape.in_place = options.in_place;
  if (!options.hosts.empty()) {
    std::uint32_t host = 0;
    for (const std::string_view part : text::split(options.hosts, ',')) {
      const auto count = text::integer_of<Rank>(text::trim(part));
      if (!count || *count < 1 || *count > options.ranks) {
        return invalid_argument(
            fmt::format("--hosts {}: '{}' is not a number of ranks from 1 to {}", options.hosts, part, options.ranks));
      }
      shape.host_of.insert(shape.host_of.end(), static_cast<std::size_t>(*count), host++);
      if (shape.host_of.size() > static_cast<std::size_t>(options.ranks)) break;
    }
    if (shape.host_of.size() != static_cast<std::size_t>(options.ranks)) {
      return invalid_argument(fmt::format("--hosts {} does not add up to --ranks {}", options.hosts, options.ranks));
    }
  }
  TUTTI_TRY(plan::validate(shape));
  return shape;
}

Result<plan::Plan> build_plan(const ShapeOptions& options) {
  TUTTI_ASSIGN(const plan::Shape shape, shape_of(options));
  if (!options.algorithm.empty()) {
    TUTTI_ASSIGN(const plan::Algorithm* algorithm, find_algorithm(options.algorithm, shape.collective));
    return plan::build(*algorithm, shape);
  }
  for (const plan::Algorithm& algorithm : plan::algorithms()) {
    if (algorithm.collective == shape.collective && algorithm.fits(shape)) return plan::build(algorithm, shape);
  }
  return invalid_argument(fmt::format("no algorithm fits {} over {} ranks", options.collective, options.ranks));
}

Result<plan::Plan> read_plan(const std::string& path) {
  TUTTI_ASSIGN(const std::string text, read_text(path));
  auto plan = plan::parse(text);
  return plan ? std::move(plan) : plan.status().while_doing(path);
}

void add_call_options(CLI::App& command, CallOptions& options) {
  command
      .add_option("TOPOLOGY", options.topology, "A file that describes the machine; samples are in share/topologies")
      ->type_name("FILE")
      ->required();
  command.add_option("--collective", options.collective, "What the ranks do together")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(one_of(collective_names()));
  add_bytes(command, "--bytes", options.bytes,
            "Size of the vector, or of one rank's block where there are blocks (default 64M)");
  std::vector<std::string> types;
  for (const DataType type : kDataTypes) types.emplace_back(name_of(type));
  command.add_option("--type", options.type, "Element type")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(one_of(types));
  command.add_option("--root", options.root, "The root, or the sender of send_receive")->type_name("RANK");
  command.add_option("--peer", options.peer, "The receiver of send_receive")->type_name("RANK");
  command
      .add_option("--reach", options.reach,
                  "What ranks of one host may do with each other's memory, instead of what the topology says")
      ->type_name("LEVEL")
      ->check(one_of(reach_names()));
  command.add_flag("--in-place", options.in_place, "Input and output are the same memory");
}

std::string describe(const CallOptions& options) {
  if (plan::collective_of(options.collective) == plan::Collective::barrier) return options.collective;
  return fmt::format("{} of {}", options.collective, text::bytes_text(options.bytes));
}

Result<planner::Request> request_of(const CallOptions& options, const topology::Topology& topology) {
  planner::Request request;
  request.collective = *plan::collective_of(options.collective);
  request.element_bytes = static_cast<std::uint32_t>(size_of(*data_type_of(options.type)));
  request.elements = options.bytes / request.element_bytes;
  if (options.bytes % request.element_bytes != 0) {
    return invalid_argument(fmt::format("--bytes {} is not a whole number of {} elements of {} bytes", options.bytes,
                                        options.type, request.element_bytes));
  }
  request.root = options.root;
  request.peer = request.collective == plan::Collective::send_receive ? options.peer : 0;
  request.reach = plan::reach_of(options.reach);
  request.in_place = options.in_place;
  const auto ranks = static_cast<Rank>(topology.device_count());
  for (const auto& [name, rank] : {std::pair{"--root", request.root}, std::pair{"--peer", request.peer}}) {
    if (rank < 0 || rank >= ranks) {
      return invalid_argument(
          fmt::format("{} {} is not a rank: {} has {} devices", name, rank, options.topology, ranks));
    }
  }
  return request;
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return invalid_argument(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  return std::move(text).str();
}

Status write_text(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return invalid_argument(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  return {};
}

int refuse(const Status& status) {
  fmt::print(stderr, "tutti: {}\n", status.text());
  return kExitUsage;
}

int fail(const Status& status) {
  fmt::print(stderr, "tutti: {}\n", status.text());
  return kExitFailed;
}

}  // namespace tutti::tool
