// `tutti meet`: a meeting point for ranks that somebody else starts, and the store beside it.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>

#include "base/knobs.h"
#include "bootstrap/meeting_point.h"
#include "os/environment.h"
#include "os/error_text.h"
#include "os/file_descriptor.h"
#include "tools/tutti/command.h"

namespace tutti::tool {

namespace {

struct MeetOptions {
  std::string out;
  bool is_printed = false;
  bool is_kept = false;
};

constexpr timespec kLook{.tv_sec = 0, .tv_nsec = 50'000'000};  // how often the meeting is looked at

// A file for the user alone, there at once and whole, and gone with this object: it holds the secret of the job.
class SecretFile {
 public:
  explicit SecretFile(std::string path) : path_(std::move(path)) {}
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;
  ~SecretFile() {
    if (is_written_) ::unlink(path_.c_str());
  }

  Status write(std::string_view text) {
    const std::string draft = fmt::format("{}.{}", path_, ::getpid());
    const Status status = write_draft(draft, text);
    if (status && ::rename(draft.c_str(), path_.c_str()) == 0) {
      is_written_ = true;
      return {};
    }
    const int error = errno;
    ::unlink(draft.c_str());
    return status ? failure(error) : status;
  }

 private:
  Status failure(int error) const {
    return invalid_argument(fmt::format("cannot write '{}': {}; choose another file", path_, os::error_text(error)));
  }
  Status write_draft(const std::string& draft, std::string_view text) const {
    const os::FileDescriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file.is_open()) return failure(errno);
    const std::string line = fmt::format("{}\n", text);
    errno = ENOSPC;  // what a write that is cut short means
    if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) return failure(errno);
    return {};
  }

  std::string path_;
  bool is_written_ = false;
};

// Blocked from before the first thread starts, so that the signals wait here whoever they are meant for.
sigset_t block_ends() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

int wait_for_ranks(bootstrap::MeetingPoint& point, const MeetOptions& options, const sigset_t& ends) {
  while (sigtimedwait(&ends, nullptr, &kLook) < 0) {
    if (options.is_kept) continue;
    if (const Status failure = point.failure(); !failure) {
      fmt::print(stderr, "tutti: {}\n", failure.text());
      return kExitFailed;
    }
    if (!point.is_finished()) continue;
    fmt::print("the ranks have met\n");
    return kExitDone;
  }
  if (options.is_kept) return kExitDone;
  fmt::print(stderr, "tutti: interrupted before the ranks have met\n");
  return kExitFailed;
}

Result<std::unique_ptr<bootstrap::MeetingPoint>> open_point() {
  TUTTI_ASSIGN(const Knobs knobs, Knobs::read(os::environment_variable));
  return bootstrap::MeetingPoint::open(knobs);
}

int meet(const MeetOptions& options) {
  if (options.out.empty() && !options.is_printed) {
    fmt::print(stderr, "tutti meet: where should the identifier go? It is secret: give --out FILE, or --print\n");
    return kExitUsage;
  }
  const sigset_t ends = block_ends();
  auto point = open_point();
  SecretFile file(options.out);
  Status status = point.status();
  if (status && !options.out.empty()) status = file.write((*point)->identifier().text());
  if (!status) {
    fmt::print(stderr, "tutti: {}\n", status.text());
    return kExitFailed;
  }
  if (options.is_printed) fmt::print("{}\n", (*point)->identifier().text());
  fmt::print("ranks may come to {}\n", fmt::join((*point)->addresses(), ", "));
  std::fflush(stdout);
  return wait_for_ranks(**point, options, ends);
}

}  // namespace

void add_meet_command(CLI::App& root, Commands& commands) {
  const auto add_options = [](CLI::App& command, MeetOptions& options) {
    command
        .add_option("--out", options.out,
                    "Where the identifier goes, readable by you alone; removed when the meeting is over")
        ->type_name("FILE");
    command.add_flag("--print", options.is_printed, "Print the identifier, which holds the secret of the job");
    command.add_flag("--keep", options.is_kept, "Serve the store until interrupted, also when the ranks have met");
  };
  commands.add<MeetOptions>(root,
                            {"meet", "Open a meeting point with a store for ranks that are started elsewhere.",
                             "tutti meet --out job.id\ntutti meet --out job.id --keep"},
                            add_options, meet);
}

}  // namespace tutti::tool
