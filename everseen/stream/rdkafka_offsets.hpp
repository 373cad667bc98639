#pragma once

#include <cstdint>
#include <string>

#include "everseen/stream/rdkafka_handle.hpp"

/// Where the reading of a partition begins. All ask the brokers, and wait for them as long as the URL says.
namespace everseen::rdkafka {

/// Fills in what the group has committed; where it has nothing, an offset below zero.
/// @throws backend_error  nobody answers, or this user may not
void read_committed(rd_kafka_t* with, const kafka_url& where, rd_kafka_topic_partition_list_t& of);

/// The id that the brokers give themselves; empty where they give none.
[[nodiscard]] std::string cluster_of(rd_kafka_t* with);

/// How many partitions a topic has now.    @throws  as read_committed
[[nodiscard]] std::int32_t partitions_of(rd_kafka_t* with, const kafka_url& where, const std::string& topic);

struct limits {
  std::uint64_t low = 0;   ///< the oldest message there is
  std::uint64_t high = 0;  ///< behind the newest
};
/// @throws  as read_committed
[[nodiscard]] limits limits_of(rd_kafka_t* with, const kafka_url& where, const std::string& lane);

/// @return `wanted`, or, where messages before it are gone and may be, the oldest there is
/// @throws parameter_error  the lane ends before it: the topic is not the one that was read
/// @throws backend_error  messages are gone, and may not be; and as read_committed
[[nodiscard]] std::uint64_t start_after_gap(rd_kafka_t* with, const kafka_url& where, const std::string& lane,
                                            std::uint64_t wanted);

}  // namespace everseen::rdkafka
