// The smallest program of a user. It must compile with the installed headers alone.
#include <everseen/everseen.hpp>

int main() {
  auto filter = everseen::create("mem:", "demo", {.capacity = 1000, .error_rate = 1e-6});
  const bool first_is_fresh = filter.add("key") == everseen::verdict::fresh;
  const bool second_is_seen = filter.add("key") == everseen::verdict::seen;
  return first_is_fresh && second_is_seen ? 0 : 1;
}
