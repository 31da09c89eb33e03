#include "bootstrap/store.h"

#include <fmt/format.h>

#include "bootstrap/store/file_store.h"
#include "bootstrap/store/unix_store.h"

namespace tutti::bootstrap {

Result<StoreAddress> parse_address(std::string_view address) {
  constexpr std::string_view kForms = "there are 'file:/path' (a file) and 'unix:/path' (a socket that rank 0 serves)";
  const auto colon = address.find(':');
  const std::string_view kind = address.substr(0, colon);
  const std::string_view path = colon == std::string_view::npos ? "" : address.substr(colon + 1);
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
  }
  return Status(Code::internal, "a kind of store that cannot be opened");
}

}  // namespace tutti::bootstrap
