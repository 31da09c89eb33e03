// Checks the tree against layers.txt and the rules of STYLE.md that a program can know.
#pragma once

#include <filesystem>
#include <vector>

#include "tools/tidy/source.h"

namespace tutti::tidy {

struct Report {
  std::size_t file_count = 0;
  std::vector<Fault> faults;  // by file, then by line
};

// The files of include, src, tools, tests, bench and examples; the names of those of the other folders too.
Report check_tree(const std::filesystem::path& root);

}  // namespace tutti::tidy
