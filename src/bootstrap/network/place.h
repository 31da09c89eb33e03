// This process on its networks: which interfaces it uses, where it listens, and what it tells the others of that.
#pragma once

#include <string>
#include <vector>

#include "base/knobs.h"
#include "bootstrap/network/offer.h"
#include "tutti/status.h"

namespace tutti::bootstrap {

struct Place {
  Offer offer;
  std::vector<std::string> listen;  // "10.0.0.1:0", the best first; loopback where there is nothing else
  std::string sentence;             // which interfaces, and why
};

Result<Place> find_place(const Knobs& knobs);

}  // namespace tutti::bootstrap
