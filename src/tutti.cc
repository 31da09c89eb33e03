#include "tutti/version.h"

namespace tutti {

const char* version() { return TUTTI_VERSION; }

}  // namespace tutti
