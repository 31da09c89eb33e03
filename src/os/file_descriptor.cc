#include "os/file_descriptor.h"

#include <unistd.h>

namespace tutti::os {

void FileDescriptor::close() {
  // Linux frees the number even when close() is interrupted: trying again could close somebody else's file.
  if (is_open()) ::close(release());
}

}  // namespace tutti::os
