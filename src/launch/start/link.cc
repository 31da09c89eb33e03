#include "launch/start/link.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "os/error_text.h"

namespace tutti::launch {

Result<Link> start_link(os::EventLoop& loop, Way way, const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Status(Code::out_of_memory,
                  fmt::format("cannot create a pair of sockets: {}; look at 'ulimit -n'", os::error_text(errno)));
  }
  os::FileDescriptor ours(ends[0]);
  const os::FileDescriptor theirs(ends[1]);
  TUTTI_ASSIGN(auto program, Program::start(loop, {.words = words,
                                                   .environment = os::whole_environment(),
                                                   .input = theirs.get(),
                                                   .output = theirs.get(),
                                                   .has_children = way == Way::ssh}));
  return Link{.duct = create_socket_duct(std::move(ours)),
              .program = std::move(program),
              .greets = Greets::expects,
              .way = way};
}

std::string own_program() {
  constexpr const char* kOwn = "/proc/self/exe";  // works even when the file was replaced, but says little in lists
  std::array<char, PATH_MAX> space{};
  const ssize_t count = ::readlink(kOwn, space.data(), space.size() - 1);
  if (count <= 0 || ::access(space.data(), X_OK) != 0) return kOwn;
  return {space.data(), static_cast<std::size_t>(count)};
}

}  // namespace tutti::launch
