// Ranks as child processes of a command: forked before any thread exists, watched, and never left behind.
#pragma once

#include <functional>
#include <string>

#include "tutti/status.h"
#include "tutti/types.h"

namespace tutti::tool {

// A folder that only this user can look into, for what ranks share by name. Gone with everything in it when destroyed.
class PrivateFolder {
 public:
  static Result<PrivateFolder> create();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();
  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Forks a child for each rank, which runs `work` and exits with what it returns, and waits for all of them. When one
// fails the others have a few seconds to notice by themselves. A signal that ends this process ends them too: then the
// status says so and `signal` is its number. Success: every rank returned 0.
struct RanksEnd {
  Status status;
  int signal = 0;
};
RanksEnd run_ranks(Rank count, const std::function<int(Rank)>& work);

}  // namespace tutti::tool
