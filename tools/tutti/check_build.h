// The table that `horovodrun --check-build` prints, for its front.
#pragma once

namespace tutti::tool {

int show_build_table();  // the exit code

}  // namespace tutti::tool
