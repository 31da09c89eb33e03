// A folder in /tmp that ends with its owner.
#pragma once

#include <string>
#include <utility>

#include "tutti/status.h"

namespace tutti::lab {

// In /tmp whatever TMPDIR is, because the names of sockets must be short. Everybody may look into it.
class Folder {
 public:
  static Result<Folder> create();
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Folder& operator=(Folder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~Folder();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: moved from
};

// A whole file; fails where it cannot be written.
Status write_file(const std::string& path, const std::string& text);
// What is in it by now; empty where it is not there.
std::string read_file(const std::string& path);

}  // namespace tutti::lab
