// How long the functions of a file are, from their braces alone.
#pragma once

#include <vector>

#include "tools/tidy/source.h"

namespace tutti::tidy {

struct Function {
  std::size_t first_line = 0;  // of the opening brace
  std::size_t last_line = 0;   // of the closing brace
  std::size_t length() const { return last_line - first_line + 1; }
};

// The functions at namespace and class level. Lambdas and classes inside a function are part of it. A brace opens a
// function when it stands outside parentheses, after a parameter list, and belongs to no namespace, class or enum.
std::vector<Function> functions_of(const Source& source);

}  // namespace tutti::tidy
