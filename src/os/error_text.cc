#include "os/error_text.h"

#include <fmt/format.h>

#include <system_error>

namespace tutti::os {

std::string error_text(int error) {
  return fmt::format("{} (errno {})", std::generic_category().message(error), error);
}

}  // namespace tutti::os
