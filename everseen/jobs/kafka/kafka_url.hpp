#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace everseen {

/// The parts of a Kafka URL.
///
///     kafka://host:port,host:port/topic,topic?group=GROUP&...    a source
///     kafka://host:port/topic?...                                a sink
///
/// Options, separated by &: group (the consumer group of a source); start (earliest or latest: where a group
/// without offsets begins); until (end: a source ends when its group has read what was there); gap (fail or
/// skip: what to do if the topic has deleted events before they were read); retry_for (how long brokers may
/// be unavailable, as in 30s); config (a file with a `property=value` a line, for what must not be visible on
/// the command line). Every other option with a dot in its name is a property of librdkafka and is passed on
/// unchanged: security.protocol=ssl, sasl.mechanism, ssl.ca.location, fetch.max.bytes. `property.NAME=VALUE`
/// passes on properties without a dot. Bytes may be written as %XX.
struct kafka_url {
  enum class start_at : std::uint8_t { earliest, latest };
  enum class gap_rule : std::uint8_t { fail, skip };

  std::string brokers{};  ///< as librdkafka expects them: host:port,host:port
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

/// Opens no connection. Only librdkafka can check whether it knows a property.
/// @throws parameter_error  names the invalid part of the URL; never shows a value, which may be secret
[[nodiscard]] kafka_url parse_kafka_url(std::string_view url);

/// Brokers and topics, without properties, for messages.
[[nodiscard]] std::string to_string(const kafka_url& url);

/// Whether messages must not show the value of an option or a property.
[[nodiscard]] bool is_secret_property(std::string_view name) noexcept;

/// Refuses properties that everseen sets itself, because its guarantees depend on them.
/// @throws parameter_error  says what to write instead
void check_kafka_property(std::string_view name);

}  // namespace everseen
