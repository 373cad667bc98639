#include "everseen/jobs/redis/machine_name.hpp"

#include <unistd.h>

namespace everseen {

std::string machine_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "worker";
  return name;
}

}  // namespace everseen
