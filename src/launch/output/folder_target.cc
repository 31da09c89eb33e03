#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <filesystem>
#include <system_error>

#include "launch/output/target.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"

namespace tutti::launch {

namespace {

// Far below the usual limit of 1024 open files: the connections to the hosts need theirs.
constexpr std::size_t kOpenFilesMax = 256;

Status creating_failure(const std::string& path, const std::string& reason) {
  return invalid_argument(fmt::format(
      "cannot create '{}' for the output of the ranks: {}; name a folder that can be written to with --output", path,
      reason));
}

Status writing_failure(const std::string& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  return {is_full ? Code::out_of_memory : Code::invalid_usage,
          fmt::format("cannot write to '{}': {}; {}", path, os::error_text(error),
                      is_full ? "make room there or name another folder with --output"
                              : "look at the folder, or name another one with --output")};
}

class FolderTarget final : public Target {
 public:
  FolderTarget(std::string folder, FileNames names, Rank size)
      : folder_(std::move(folder)), names_(names), size_(size), files_(static_cast<std::size_t>(size) * 2) {}

  Status create_files() {
    TUTTI_TRY(create_folder(folder_));
    for (std::uint32_t file = 0; file < files_.size(); ++file) {
      const std::string path = path_of(file);
      if (names_ == FileNames::horovod) TUTTI_TRY(create_folder(std::filesystem::path(path).parent_path().string()));
      const os::FileDescriptor created(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));
      if (!created.is_open()) return creating_failure(path, os::error_text(errno));
    }
    return {};
  }

  Result<std::size_t> write(std::uint32_t file, std::string_view bytes) override {
    os::FileDescriptor& descriptor = files_[file];
    if (!descriptor.is_open()) TUTTI_TRY(open(file));
    while (true) {
      const ssize_t written = ::write(descriptor.get(), bytes.data(), bytes.size());
      if (written >= 0) return static_cast<std::size_t>(written);
      if (errno != EINTR) return writing_failure(path_of(file), errno);
    }
  }

  int wait_fd() const override { return -1; }

 private:
  std::string path_of(std::uint32_t file) const {
    return file_path(folder_, names_, static_cast<Rank>(file / 2), size_, file % 2 == 0 ? Stream::out : Stream::err);
  }

  static Status create_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    return error ? creating_failure(path, error.message()) : Status();
  }

  Status open(std::uint32_t file) {
    if (open_.size() >= kOpenFilesMax) {
      files_[open_.front()].close();
      open_.pop_front();
    }
    const std::string path = path_of(file);
    files_[file] = os::FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666));
    if (!files_[file].is_open()) return writing_failure(path, errno);
    open_.push_back(file);
    return {};
  }

  std::string folder_;
  FileNames names_;
  Rank size_;
  std::vector<os::FileDescriptor> files_;
  std::deque<std::uint32_t> open_;  // the one that was opened first in front
};

}  // namespace

std::string file_path(const std::string& folder, FileNames names, Rank rank, Rank size, Stream stream) {
  const bool is_out = stream == Stream::out;
  switch (names) {
    case FileNames::flat: break;
    case FileNames::horovod:
      return fmt::format("{}/rank.{:0{}}/{}", folder, rank, fmt::formatted_size("{}", size - 1),
                         is_out ? "stdout" : "stderr");
  }
  return fmt::format("{}/rank.{}.{}", folder, rank, is_out ? "out" : "err");
}

Result<std::unique_ptr<Target>> create_folder_target(const std::string& folder, FileNames names, Rank size) {
  auto target = std::make_unique<FolderTarget>(folder, names, size);
  TUTTI_TRY(target->create_files());
  return std::unique_ptr<Target>(std::move(target));
}

}  // namespace tutti::launch
