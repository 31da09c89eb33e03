// A file as the rules see it: its lines, once as written, once with only its code and once with only its comments.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::tidy {

// What is wrong and where. Line 0: the file as a whole.
struct Fault {
  std::string file;
  std::size_t line = 0;
  std::string message;
  std::string text() const;  // "src/plan/ring.cc:12: ..."
  bool operator==(const Fault&) const = default;
};

struct Source {
  std::string path;                   // from the root, with forward slashes
  std::vector<std::string> lines;     // as written
  std::vector<std::string> code;      // comments and the contents of string literals blanked
  std::vector<std::string> comments;  // everything but comments blanked

  bool is_header() const;
  bool is_test() const;  // tests/ and *_test.cc
  std::filesystem::path folder() const { return std::filesystem::path(path).parent_path(); }
};

bool is_cpp(const std::filesystem::path& path);

Source source_of(std::string path, const std::string& text);

}  // namespace tutti::tidy
