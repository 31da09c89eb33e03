// The law of layers.txt: which folder may include which.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tidy/source.h"

namespace tutti::tidy {

struct Layers {
  std::map<std::string, std::set<std::string>> uses;     // folder of src/ -> folders it may include, itself among them
  std::map<std::string, std::string> folder_of_public;   // public header -> its folder
  std::set<std::string> separate;                        // folders whose sub-folders may not include one another
  std::map<std::string, std::set<std::string>> only_in;  // word -> folders it may stand in
};

// Faults are those of the file itself: an unknown section, a folder that is used and not declared.
Layers layers_of(const Source& file, std::vector<Fault>& faults);

// Every #include of a file of src/ or include/, its words, and where headers of CUDA stand.
void check_layers(const Layers& layers, const Source& source, std::vector<Fault>& faults);

}  // namespace tutti::tidy
