#include "everseen/redis/keyspace/asking.hpp"

#include "everseen/redis/keyspace/script_calls.hpp"

namespace everseen::redis {

reply ask_about(session& with, const route& key, std::initializer_list<std::string_view> words) {
  return exchange_all(with, {{key, encode(words), 1, true}}).front()->front();
}

format_error damaged_key(const std::string& key, const std::string& what) {
  return format_error(
      "the key " + key + " " + what +
      "; it was deleted, renamed, evicted or overwritten. Restore the filter from an export, or drop it");
}

std::string to_text(event_time t) {
  return std::to_string(t.time_since_epoch().count());
}

}  // namespace everseen::redis
