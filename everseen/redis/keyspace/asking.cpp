#include "everseen/redis/keyspace/asking.hpp"

#include <span>
#include <utility>

#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

reply ask_about(session& with, const route& key, std::initializer_list<std::string_view> words) {
  const request r{key, encode(words), 1, true};
  auto answers = with.exchange(std::span(&r, 1));
  if (!answers.front()) throw backend_error(answers.front().error().message);
  reply& answered = answers.front()->front();
  if (answered.is_error("WRONGTYPE")) throw damaged_key(key.key, "has another type");
  if (answered.is_error())
    throw backend_error("redis at " + to_string(with.server_of(key)) + " refused a command on " + key.key +
                        ": " + std::string(answered.text()));
  return std::move(answered);
}

format_error damaged_key(const std::string& key, const std::string& what) {
  return format_error(
      "the key " + key + " " + what +
      "; it was deleted, evicted or overwritten. Restore the filter from an export, or drop it");
}

std::string to_text(event_time t) {
  return std::to_string(t.time_since_epoch().count());
}

}  // namespace everseen::redis
