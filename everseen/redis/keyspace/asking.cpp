#include "everseen/redis/keyspace/asking.hpp"

#include <algorithm>

#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

reply ask_about(server_connections& connections, const route& key,
                std::initializer_list<std::string_view> words) {
  return exchange_all(connections, {{key, encode(words), 1, true}}).front()->front();
}

std::vector<std::string> read_ranges(server_connections& connections, std::span<const string_range> ranges) {
  std::vector<request> requests;
  for (const string_range& range : ranges)
    for (std::uint64_t from = range.begin; from < range.end; from += piece_bytes) {
      const std::uint64_t last = std::min(range.end, from + piece_bytes) - 1;
      requests.push_back({range.source,
                          encode({"GETRANGE", range.source.key, std::to_string(from), std::to_string(last)}),
                          1, true});
    }
  const std::vector<answer> answers = exchange_all(connections, requests);
  std::vector<std::string> read(ranges.size());
  auto piece = answers.begin();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const string_range& range = ranges[i];
    for (std::uint64_t from = range.begin; from < range.end; from += piece_bytes, ++piece)
      // A string may have grown since an earlier piece ended it.
      if (range.begin + read[i].size() == from) read[i] += (*piece)->front().text();
  }
  return read;
}

format_error damaged_key(const std::string& key, const std::string& subject) {
  return format_error(
      "the key " + key + " " + subject +
      "; it was deleted, renamed, evicted or overwritten. Restore the filter from an export, or drop it");
}

std::string to_text(event_time t) {
  return std::to_string(t.time_since_epoch().count());
}

}  // namespace everseen::redis
