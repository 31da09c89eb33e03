#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "topology/host_reader.h"
#include "topology/limits.h"
#include "topology/line.h"
#include "topology/names.h"
#include "topology/network_reader.h"
#include "tutti/topology.h"

namespace tutti::topology {

namespace {

// A '#' inside the quotes of a name is part of the name.
std::string_view without_comment(std::string_view text) {
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') is_quoted = !is_quoted;
    if (text[i] == '#' && !is_quoted) return text.substr(0, i);
  }
  return text;
}

class Parser {
 public:
  Status read(const Line& line);
  Result<Topology> finish();

 private:
  Status read_title(const Line& line);
  Status read_cost(const Line& line, double& seconds);
  Status begin_host(const Line& line);
  Status begin_network(const Line& line);
  Status end_host();
  Status once(const Line& line);
  Status error_of_keyword(const Line& line) const;

  Topology topology_;
  KindTotals kind_totals_;
  NameIndex host_of_;
  std::vector<std::uint32_t> kind_lines_;
  std::size_t first_host_ = 0;  // of the kind that is being read
  std::size_t device_count_ = 0;
  std::size_t nic_count_ = 0;
  std::size_t vertex_count_ = 0;
  std::size_t link_count_ = 0;
  NameIndex line_of_;                     // of the lines that may stand once
  std::optional<HostReader> host_;        // the block that is being read
  std::optional<NetworkReader> network_;  // likewise, to the end of the file
};

Status Parser::read(const Line& line) {
  const std::string_view word = line.keyword();
  if (word == "topology") return read_title(line);
  if (word == "launch") return read_cost(line, topology_.launch_s);
  if (word == "step") return read_cost(line, topology_.step_s);
  if (word == "host") return begin_host(line);
  if (word == "network") return begin_network(line);
  if (network_ && NetworkReader::is_keyword(word)) return network_->read(line);
  if (host_ && HostReader::is_keyword(word)) return host_->read(line);
  return error_of_keyword(line);
}

Status Parser::error_of_keyword(const Line& line) const {
  const std::string_view word = line.keyword();
  if (HostReader::is_keyword(word)) {
    return network_
               ? error_at(line.number, fmt::format("'{}' belongs to a host; move it above 'network'", word))
               : error_at(line.number, fmt::format("'{}' stands before any host; begin one with 'host NAME'", word));
  }
  std::vector<std::string> known = {"topology", "launch", "step", "host", "network"};
  const auto& more = network_ ? NetworkReader::keywords() : HostReader::keywords();
  if (network_ || host_) known.insert(known.end(), more.begin(), more.end());
  return error_at(line.number, fmt::format("{} is not a keyword{}", in_quotes(word),
                                           suggest(word, known, fmt::format("expected {}", fmt::join(known, ", ")))));
}

Status Parser::once(const Line& line) {
  const auto [first, is_new] = line_of_.emplace(std::string(line.keyword()), line.number);
  if (is_new) return {};
  return error_at(line.number, fmt::format("'{}' stands already in line {}; keep one", line.keyword(), first->second));
}

Status Parser::read_title(const Line& line) {
  TUTTI_TRY(once(line));
  std::string_view title = text::trim(line.text.substr(line.keyword().size()));
  if (title.size() < 2 || title.front() != '"' || title.back() != '"') {
    return error_at(line.number, fmt::format("'topology' takes a name in quotes, not {}; write topology \"my machine\"",
                                             in_quotes(title)));
  }
  title = title.substr(1, title.size() - 2);
  const bool is_plain = std::all_of(title.begin(), title.end(),
                                    [](char c) { return static_cast<unsigned char>(c) >= 32 && c != 127 && c != '"'; });
  if (!is_plain || title.size() > kTitleLengthMax) {
    return error_at(line.number, fmt::format("the name {} must have at most {} characters, no quotes and no control "
                                             "characters",
                                             in_quotes(title), kTitleLengthMax));
  }
  topology_.name = title;
  return {};
}

Status Parser::read_cost(const Line& line, double& seconds) {
  TUTTI_TRY(once(line));
  if (line.words.size() != 2) {
    return error_at(line.number, fmt::format("'{0}' takes one time; write '{0} 0.8us'", line.keyword()));
  }
  TUTTI_ASSIGN(seconds, read_seconds(line, line.keyword(), line.words[1]));
  return {};
}

Status Parser::begin_host(const Line& line) {
  TUTTI_TRY(end_host());
  if (network_) return error_at(line.number, "'host' stands below 'network'; move it above");
  if (line.words.size() < 2) return error_at(line.number, "'host' has no name; write 'host NAME' or 'host NAME[0-7]'");
  TUTTI_TRY(read_attributes(line, 2, {}).status());
  auto names = expand(line.words[1], kDeviceCountMax);
  if (!names) return error_at(line.number, names.status().text());
  if (topology_.hosts.size() + names->size() > kDeviceCountMax) {
    return error_at(line.number, fmt::format("{} makes more than {} hosts", in_quotes(line.words[1]), kDeviceCountMax));
  }
  const auto kind = static_cast<std::uint32_t>(topology_.kinds.size());
  first_host_ = topology_.hosts.size();
  for (std::string& name : *names) {
    const auto index = static_cast<std::uint32_t>(topology_.hosts.size());
    if (!host_of_.emplace(name, index).second) {
      return error_at(line.number, fmt::format("host '{}' exists already; choose another name", name));
    }
    topology_.hosts.push_back({.name = std::move(name), .kind = kind});
  }
  kind_lines_.push_back(line.number);
  host_.emplace(line.number, kind_totals_);
  return {};
}

Status Parser::end_host() {
  if (!host_) return {};
  TUTTI_ASSIGN(HostKind kind, host_->finish());
  host_.reset();
  const std::size_t host_count = topology_.hosts.size() - first_host_;
  device_count_ += host_count * kind.devices.size();
  nic_count_ += host_count * kind.nics.size();
  vertex_count_ += host_count * kind.vertices.size();
  link_count_ += host_count * kind.links.size();
  struct Size {
    std::string_view what;
    std::size_t count;
    std::size_t limit;
  };
  for (const Size& size : {Size{"devices", device_count_, kDeviceCountMax}, Size{"nics", nic_count_, kNicCountMax},
                           Size{"devices, switches and nics", vertex_count_, kVertexCountMax},
                           Size{"links", link_count_, kLinkCountMax}}) {
    if (size.count <= size.limit) continue;
    return error_at(kind_lines_.back(), fmt::format("the machine is too large: with these hosts it has {} {}; at most "
                                                    "{} are supported",
                                                    size.count, size.what, size.limit));
  }
  topology_.kinds.push_back(std::move(kind));
  return {};
}

Status Parser::begin_network(const Line& line) {
  TUTTI_TRY(end_host());
  TUTTI_TRY(once(line));
  TUTTI_TRY(read_attributes(line, 1, {}).status());
  if (topology_.hosts.empty()) return error_at(line.number, "'network' stands before any host; move it below them");
  network_.emplace(line.number, topology_, host_of_);
  return {};
}

Result<Topology> Parser::finish() {
  TUTTI_TRY(end_host());
  if (topology_.hosts.empty()) {
    return invalid_argument("the topology has no host; add 'host NAME' and its devices");
  }
  if (network_) {
    TUTTI_TRY(network_->finish(kind_lines_));
  } else if (topology_.hosts.size() > 1) {
    return error_at(kind_lines_.back(), fmt::format("there are {} hosts but no network between them; add 'network', "
                                                    "switches and links below the hosts",
                                                    topology_.hosts.size()));
  }
  return std::move(topology_);
}

}  // namespace

Result<Topology> parse(std::string_view text) {
  if (text.size() > kTextBytesMax) {
    return invalid_argument(
        fmt::format("the topology has {} bytes of text; at most {} are read", text.size(), kTextBytesMax));
  }
  Parser parser;
  std::uint32_t number = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    Line line;
    line.number = ++number;
    line.text = text::trim(without_comment(text.substr(begin, end - begin)));
    line.words = text::words(line.text);
    if (!line.words.empty()) TUTTI_TRY(parser.read(line));
    begin = end + 1;
  }
  return parser.finish();
}

Result<Topology> read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kTextBytesMax + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad() || (file.gcount() == 0 && errno != 0)) {
    return invalid_argument(fmt::format("cannot read the topology '{}': {}; samples are in share/topologies", path,
                                        errno == 0 ? "unknown reason" : std::strerror(errno)));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto topology = parse(text);
  if (!topology) return topology.status().while_doing(path);
  return topology;
}

}  // namespace tutti::topology
