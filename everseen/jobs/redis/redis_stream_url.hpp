#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/redis/wire/redis_url.hpp"

namespace everseen {

/// The parts of a Redis stream's name.
///
///     redis-stream:STREAM?group=GROUP&...          on the server of the store
///     redis-stream:STREAM?...@redis://host:port    on another, whose whole URL follows
///
/// Options of a source, separated by &: group; consumer (this worker's name in it, by default that of the
/// machine); start (earliest or latest: where a new group begins); field (the record is the value of this
/// field; by default it is a JSON object of all fields); claim_after (how long a worker may be silent before
/// others take over its events, as in 10s); gap (fail or skip: what to do if entries were trimmed before
/// they were read); until (end: end when everything was read). Options of a sink: field (the record is the
/// value of this field; by default an entry keeps its fields, and other records get `event`); maxlen (keep
/// about this many entries). Bytes may be written as %XX, and @ ? & % in names must be.
struct redis_stream_url {
  std::string stream{};
  std::string group{};
  std::string consumer{};
  bool from_latest = false;
  std::string field{};
  std::chrono::milliseconds claim_after{10'000};
  bool skip_gaps = false;
  bool until_end = false;
  std::optional<std::uint64_t> max_length{};
  std::optional<redis::redis_url> server{};

  friend bool operator==(const redis_stream_url&, const redis_stream_url&) = default;
};

[[nodiscard]] bool is_redis_stream_url(std::string_view url) noexcept;

/// @throws parameter_error  names the invalid part; never shows a password
[[nodiscard]] redis_stream_url parse_redis_stream_url(std::string_view url);

/// The key that belongs to a stream, in the same slot of a cluster.
/// @throws parameter_error  impossible: the name has braces that are not a hash tag
[[nodiscard]] std::string key_beside(std::string_view stream, std::string_view subject);

}  // namespace everseen
