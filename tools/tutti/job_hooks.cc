#include "tools/tutti/job_hooks.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "launch/control/folder.h"
#include "launch/control/server.h"

namespace tutti::tool {

launch::JobHooks job_hooks(const std::string& job, std::string_view who) {
  namespace control = launch::control;
  // Shared: the hooks are two functions, and the server lives from the first to the second.
  auto server = std::make_shared<std::unique_ptr<control::Server>>();
  const auto begin = [server, job, who = std::string(who)](os::EventLoop& loop, launch::JobView& view) {
    auto created = control::Server::create(loop, view, job, control::job_folders());
    if (created) {
      *server = *std::move(created);
    } else {
      fmt::print(stderr, "{}: 'tutti ps' will not see this job: {}\n", who, created.status().text());
    }
  };
  return {.begin = begin, .end = [server] { server->reset(); }};
}

}  // namespace tutti::tool
