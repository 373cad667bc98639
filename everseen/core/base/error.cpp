#include "everseen/core/base/error.hpp"

#include <cerrno>
#include <new>

namespace everseen {

batch_failure batch_failure::from_current_exception() {
  try {
    throw;
  } catch (const full_error& e) {
    return {cause::full, e.what(), {}, e.code()};
  } catch (const storage_error& e) {
    return {cause::storage, e.what(), {}, e.code(), e.path()};
  } catch (const backend_error& e) {
    return {cause::backend, e.what(), {}};
  } catch (const format_error& e) {
    return {cause::format, e.what(), {}};
  } catch (const std::bad_alloc&) {
    return {cause::storage, "out of memory", {}, ENOMEM};
  }
}

void batch_failure::raise() const {
  switch (why) {
    case cause::full:
      throw full_error(message, code);
    case cause::backend:
      throw backend_error(message);
    case cause::format:
      throw format_error(message);
    case cause::key:
      throw parameter_error(message);
    case cause::storage:
      break;
  }
  throw storage_error(message, code, path);
}

}  // namespace everseen
