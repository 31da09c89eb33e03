#include "bootstrap/store.h"

#include <fmt/format.h>

#include "bootstrap/identifier.h"
#include "bootstrap/store/file_store.h"
#include "bootstrap/store/tcp_store.h"
#include "bootstrap/store/unix_store.h"

namespace tutti::bootstrap {

namespace {

constexpr std::string_view kForms =
    "there are 'file:/path' (a file), 'unix:/path' (a socket that rank 0 serves) and 'tcp:' with the identifier of a "
    "meeting point";

Result<std::unique_ptr<Store>> open_at_meeting_point(const std::string& identifier, Deadline deadline) {
  TUTTI_ASSIGN(const Identifier parsed, Identifier::parse(identifier));
  TUTTI_ASSIGN(const MeetingAddress address, read_identifier(parsed));
  return open_tcp_store(address, deadline);
}

}  // namespace

Result<StoreAddress> parse_address(std::string_view address) {
  const auto colon = address.find(':');
  const std::string_view kind = address.substr(0, colon);
  const std::string_view path = colon == std::string_view::npos ? "" : address.substr(colon + 1);
  // What is wrong with an identifier is told without it: it holds a secret.
  if (kind == "tcp") {
    if (const auto identifier = Identifier::parse(path); !identifier)
      return invalid_argument(fmt::format("an identifier follows 'tcp:' in the address of a store: {}; {}",
                                          identifier.status().text(), kForms));
    return StoreAddress{StoreKind::tcp, std::string(path)};
  }
  if (kind != "file" && kind != "unix")
    return invalid_argument(fmt::format("'{}' is no address of a store; {}", address, kForms));
  if (path.empty() || path.find('\0') != std::string_view::npos || path.ends_with('/'))
    return invalid_argument(fmt::format("the address '{}' of a store names no file; {}", address, kForms));
  if (kind == "unix" && path.starts_with('@'))
    return invalid_argument(
        fmt::format("the store '{}' would have no path, and other users could take its place; {}", address, kForms));
  return StoreAddress{kind == "file" ? StoreKind::file : StoreKind::unix_socket, std::string(path)};
}

Result<std::unique_ptr<Store>> open_store(std::string_view address, Rank rank, Deadline deadline) {
  TUTTI_ASSIGN(const StoreAddress parsed, parse_address(address));
  switch (parsed.kind) {
    case StoreKind::file: return open_file_store(parsed.path, deadline);
    case StoreKind::unix_socket:
      return rank == 0 ? serve_unix_store(parsed.path, deadline) : connect_unix_store(parsed.path, deadline);
    case StoreKind::tcp: return open_at_meeting_point(parsed.path, deadline);
  }
  return Status(Code::internal, "a kind of store that cannot be opened");
}

}  // namespace tutti::bootstrap
