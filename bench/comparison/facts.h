// What a number from a measurement must be quoted with: the machine, the commit and the command.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tutti::bench {

struct Facts {
  std::string cpu;
  int cores = 0;
  std::string kernel;
  std::string huge_pages;  // as Linux states it: "always [madvise] never"
  std::string commit;      // with "-dirty" where files differ from it
  std::string date;        // UTC
  std::string command;
  std::map<std::string, std::string> versions = {};  // of the libraries that took part
};

Facts facts_of(const std::vector<std::string>& command);

}  // namespace tutti::bench
