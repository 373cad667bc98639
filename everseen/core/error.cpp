#include "everseen/core/error.hpp"

namespace everseen {

void batch_failure::raise() const {
  switch (why) {
    case cause::full: throw full_error(message);
    case cause::backend: throw backend_error(message);
    case cause::format: throw format_error(message);
    case cause::storage: break;
  }
  throw storage_error(message, 0, {});
}

}  // namespace everseen
