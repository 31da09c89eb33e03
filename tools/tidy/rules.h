// The rules of STYLE.md that a file can break on its own.
#pragma once

#include <string>
#include <vector>

#include "tools/tidy/source.h"

namespace tutti::tidy {

inline constexpr std::size_t kFileLinesMax = 600;
inline constexpr std::size_t kTestLinesMax = 1000;
inline constexpr std::size_t kFunctionLinesMax = 60;
inline constexpr std::size_t kColumnsMax = 120;

void check_name(const std::string& path, std::vector<Fault>& faults);
void check_lengths(const Source& source, std::vector<Fault>& faults);
void check_functions(const Source& source, std::vector<Fault>& faults);
void check_header(const Source& source, std::vector<Fault>& faults);
void check_comments(const Source& source, std::vector<Fault>& faults);
void check_conditions(const Source& source, std::vector<Fault>& faults);

}  // namespace tutti::tidy
