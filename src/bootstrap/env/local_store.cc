#include "bootstrap/env/local_store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "bootstrap/env/job_number.h"
#include "bootstrap/env/kept_store.h"
#include "bootstrap/store/unix_store.h"
#include "os/error_text.h"
#include "os/unix_socket.h"

namespace tutti::bootstrap {
namespace {

constexpr std::string_view kShortRoot = "/tmp";
constexpr std::string_view kSocket = "/store";

std::string folder_in(std::string_view root, std::string_view job) {
  return fmt::format("{}/tutti-{}-{:016x}", root, ::geteuid(), job_number_of(job));
}

// Every process makes it, since any may be the first; what another user has made there is not used.
Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return {Code::internal,
            fmt::format("the folder '{}', where the processes of this job meet, cannot be made: {}; set "
                        "TMPDIR to a folder that can be written to",
                        path, os::error_text(errno))};
  }
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    return {Code::internal,
            fmt::format("the folder '{}', where the processes of this job meet, cannot be looked at: {}", path,
                        os::error_text(errno))};
  }
  const bool is_private = S_ISDIR(found.st_mode) && (found.st_mode & 077) == 0;
  if (is_private && found.st_uid == ::geteuid()) return {};
  return invalid_argument(
      fmt::format("'{}', where the processes of this job would meet, is not a folder of user {} that others cannot "
                  "enter; remove it, or set TMPDIR to a folder of your own",
                  path, ::geteuid()));
}

}  // namespace

std::string local_folder_of(std::string_view job, const std::string& root) {
  std::string folder = folder_in(root, job);
  if (folder.size() + kSocket.size() <= os::kSocketNameBytesMax) return folder;
  return folder_in(kShortRoot, job);
}

Result<std::unique_ptr<Store>> open_local_store(std::string_view job, Rank rank, const std::string& root,
                                                Deadline deadline) {
  const std::string folder = local_folder_of(job, root);
  TUTTI_TRY(make_folder(folder));
  const std::string path = folder + std::string(kSocket);
  const auto leave = [folder] { ::rmdir(folder.c_str()); };  // fails while the socket is there: not the last
  auto store = rank == 0 ? serve_unix_store(path, deadline) : connect_unix_store(path, deadline);
  if (store) return create_kept_store(*std::move(store), leave);
  leave();
  return store.status().while_doing(rank == 0 ? "serving the store of the job" : "waiting for rank 0");
}

}  // namespace tutti::bootstrap
