#include "tools/tutti/check/build_table.h"

#include <fmt/format.h>

#include "transport/ucx.h"
#include "tutti/version.h"

namespace tutti::tool::check {

namespace {

std::string row(bool is_there, std::string_view name) {
  return fmt::format("    [{}] {}\n", is_there ? 'X' : ' ', name);
}

}  // namespace

BuildFacts build_facts_here() { return {.frameworks = find_frameworks(), .has_ucx = transport::is_ucx_built()}; }

// Scripts search for rows such as "[X] NCCL". So the names of others stand alone in their rows, and a cross means that
// what a program gets under that name works: NCCL is Tutti's own library with NCCL's interface.
std::string build_table(const BuildFacts& facts) {
  std::string table = "Tutti v" TUTTI_VERSION ":\n\nAvailable Frameworks:\n";
  for (const Framework& framework : facts.frameworks.all) table += row(!framework.version.empty(), framework.name);
  table += "\nAvailable Controllers:\n";
  table += row(false, "MPI");
  table += row(false, "Gloo");
  table += row(true, "Tutti");
  table += "\nAvailable Tensor Operations:\n";
  table += row(true, "NCCL");
  for (const std::string_view name : {"DDL", "CCL", "MPI", "Gloo"}) table += row(false, name);
  table += row(true, facts.has_ucx ? "Tutti (shared memory, TCP, UCX)" : "Tutti (shared memory, TCP)");
  table += "\nNeither MPI nor Gloo is needed: Tutti starts and connects processes by itself.\n";
  table += "NCCL is the interface, as Tutti's libnccl.so.2 has it ('tutti env nccl').\n";
  if (!facts.frameworks.failure.empty()) {
    table += fmt::format("Frameworks are unknown: {}.\n", facts.frameworks.failure);
  }
  return table;
}

std::string build_table() { return build_table(build_facts_here()); }

}  // namespace tutti::tool::check
