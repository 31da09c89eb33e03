// What a request does to a table and what is answered, the same for every server of a store.
#pragma once

#include <optional>

#include "bootstrap/store/request.h"
#include "bootstrap/store/table.h"

namespace tutti::bootstrap {

Reply reply_of(const Status& failure);
Reply reply_of(const Bytes& value);

// Whether the request may give its key a value; who waits for the key is to be answered then.
bool is_change(RequestKind kind);

// nullopt: a wait for a key that is not there. Giving up is between the server and who waits, and no request here.
std::optional<Reply> execute(Table& table, const Request& request);

}  // namespace tutti::bootstrap
