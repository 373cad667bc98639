#pragma once

#include <string>

namespace everseen::redis {

/// Why a connection is of no use.
struct failure {
  std::string message;     ///< names the server, says what to do
  bool permanent = false;  ///< trying again cannot help: a wrong password, a certificate that does not fit
};

}  // namespace everseen::redis
