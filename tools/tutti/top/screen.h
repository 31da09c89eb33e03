// What has to be written to a terminal so that it shows other lines than before: only rows that differ, and never a
// cleared screen in between. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/tutti/top/frame.h"

namespace tutti::tool::top {

class Screen {
 public:
  // One write. Terminals that know synchronised output show it at once; the others pass the marks over.
  std::string draw(const std::vector<Line>& lines, const Size& size);
  void forget() { is_known_ = false; }  // somebody else has written: every row is drawn again

 private:
  std::vector<Line> shown_;
  Size size_;
  bool is_known_ = false;
};

}  // namespace tutti::tool::top
