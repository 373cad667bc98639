#include "everseen/store/time_source.hpp"

#include <chrono>

namespace everseen {

event_time wall_clock() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

}  // namespace everseen
