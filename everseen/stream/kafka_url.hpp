#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace everseen {

/// Everything that a Kafka URL says.
///
///     kafka://host:port,host:port/topic?group=GROUP&...      a source; several topics are separated by
///     commas kafka://host:port/topic?...                            a sink
///
/// Options, separated by &: group (the consumer group of a source); start (earliest or latest: where a group
/// begins that has no offsets yet); until (end: a source ends when it has read what was there); gap (fail or
/// skip: what to do when the topic has deleted events before they were read); retry_for (how long brokers may
/// be away, as in 30s); config (a file with a `property=value` a line, for what others must not see on the
/// command line). Every other option with a dot in its name is a property of librdkafka and goes there as it
/// is: security.protocol=ssl, sasl.mechanism, ssl.ca.location, fetch.max.bytes. `property.NAME=VALUE` passes
/// on those whose names have none. Bytes may be written as %XX.
struct kafka_url {
  enum class start_at : std::uint8_t { earliest, latest };
  enum class gap_rule : std::uint8_t { fail, skip };

  std::string brokers{};  ///< as librdkafka has it: host:port,host:port
  std::vector<std::string> topics{};
  std::optional<std::string> group{};
  start_at start = start_at::earliest;
  bool until_end = false;
  gap_rule gap = gap_rule::fail;
  std::chrono::milliseconds retry_for{60'000};
  std::optional<std::string> config_file{};
  std::vector<std::pair<std::string, std::string>> properties{};  ///< in their order

  friend bool operator==(const kafka_url&, const kafka_url&) = default;
};

[[nodiscard]] bool is_kafka_url(std::string_view url) noexcept;

/// Connects to nothing. Whether librdkafka knows a property, it alone can tell.
/// @throws parameter_error  names the part of the URL that makes no sense; never shows a value, which may be
///         secret
[[nodiscard]] kafka_url parse_kafka_url(std::string_view url);

/// Brokers and topics, without properties, for messages.
[[nodiscard]] std::string to_string(const kafka_url& url);

/// Refuses the properties that everseen sets itself, because what it promises hangs on them.
/// @throws parameter_error  says what to write instead
void check_kafka_property(std::string_view name);

}  // namespace everseen
