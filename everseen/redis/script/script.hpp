#pragma once

#include <string>

namespace everseen::redis {

/// A Lua script and the name under which a server keeps it.
struct script {
  std::string text;
  std::string sha1;  ///< 40 hexadecimal digits
};

}  // namespace everseen::redis
