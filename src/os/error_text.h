// What an errno means, for messages.
#pragma once

#include <string>

namespace tutti::os {

std::string error_text(int error);  // "Permission denied (errno 13)"

}  // namespace tutti::os
