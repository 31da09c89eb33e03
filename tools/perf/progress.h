// A line on a terminal that says what is being measured; nothing where nobody looks.
#pragma once

#include <string>

namespace tutti::perf {

class Progress {
 public:
  Progress();
  // Replaces what it showed. It stands on standard error, so tables that go to a file stay as they are.
  void show(const std::string& what);
  void hide();

 private:
  bool is_shown_ = false;
  bool is_terminal_ = false;  // and the table goes elsewhere: on one terminal the rows themselves are the progress
};

}  // namespace tutti::perf
