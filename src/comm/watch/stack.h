// The frames of a halted thread in words. What libdw knows where the build has it, otherwise what frame pointers tell.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "os/halted_thread.h"

namespace tutti::comm::watch {

// Innermost first; at least the place where the thread is. Names of functions where they are known, otherwise the file
// and the place in it: "libc.so.6+0x1234".
std::vector<std::string> frames_of(pid_t pid, const os::HaltedThread& thread);

// Where code lies, from the text of /proc/PID/maps.
struct CodeArea {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // of its beginning in the file
  std::string file;          // the last part of its path
};
std::vector<CodeArea> parse_code_areas(std::string_view maps);

// Return addresses by following frame pointers; frames of code that was built without them are left out, or end it.
std::vector<std::uint64_t> walk_frame_pointers(const os::HaltedThread& thread, const std::vector<CodeArea>& code);

}  // namespace tutti::comm::watch
