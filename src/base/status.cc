#include "tutti/status.h"

#include "base/assert.h"

namespace tutti {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::ok: return "ok";
    case Code::invalid_argument: return "invalid argument";
    case Code::invalid_usage: return "invalid usage";
    case Code::unsupported: return "unsupported";
    case Code::out_of_memory: return "out of memory";
    case Code::timed_out: return "timed out";
    case Code::aborted: return "aborted";
    case Code::peer_lost: return "peer lost";
    case Code::network: return "network";
    case Code::device: return "device";
    case Code::internal: return "internal";
  }
  return "unknown";
}

Status::Status(Code code, std::string text, Scope scope) {
  TUTTI_ASSERT(code != Code::ok, "success carries no text");
  detail_ = std::make_shared<const Detail>(Detail{code, scope, std::move(text)});
}

Status Status::while_doing(std::string_view what) const {
  if (is_ok()) return *this;
  return {detail_->code, std::string(what) + ": " + detail_->text, detail_->scope};
}

}  // namespace tutti
