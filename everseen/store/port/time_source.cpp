#include "everseen/store/port/time_source.hpp"

#include <chrono>

#include "everseen/core/base/error.hpp"

namespace everseen {

event_time wall_clock() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

event_time end_after(event_time current_time, std::chrono::milliseconds life) {
  if (life < std::chrono::seconds(1)) throw parameter_error("a filter must live for at least a second");
  if (event_time::max() - current_time < life)
    throw parameter_error("the expiry time is too far in the future; leave it out");
  return current_time + life;
}

}  // namespace everseen
