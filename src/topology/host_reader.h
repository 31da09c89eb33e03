// Reads the lines of a topology file that say what a kind of host is made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/line.h"
#include "tutti/topology.h"

namespace tutti::topology {

// What all kinds of hosts of a file have used of the limits.
struct KindTotals {
  std::size_t vertex_count = 0;
  std::size_t link_count = 0;
};

class HostReader {
 public:
  HostReader(std::uint32_t line, KindTotals& totals) : line_(line), totals_(totals) {}

  static bool is_keyword(std::string_view word);
  static const std::vector<std::string>& keywords();

  // A line whose keyword is one of these.
  Status read(const Line& line);
  // After the last line: the kind, when it is complete.
  Result<HostKind> finish();

 private:
  struct MemoryName {
    std::uint32_t device = 0;
    std::uint32_t line = 0;
    std::string name;
  };

  Status read_vertices(const Line& line, VertexKind kind);
  Status read_memory(const Line& line, const Attributes& attributes, Vertex& device);
  Status read_host_link(const Line& line);
  Status read_reach(const Line& line);
  Status add_vertex(const Line& line, Vertex vertex);
  Result<std::vector<std::uint32_t>> vertices_of(const Line& line, std::string_view list) const;
  Status resolve_memory();

  std::uint32_t line_;
  KindTotals& totals_;
  HostKind kind_;
  NameIndex vertex_of_;
  std::vector<MemoryName> memory_names_;  // a device may name a switch that a later line declares
  bool has_reach_ = false;
};

}  // namespace tutti::topology
