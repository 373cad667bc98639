#pragma once

#include <cstdint>
#include <string>

#include "everseen/jobs/kafka/rdkafka_handle.hpp"

/// Where reading a partition begins. All functions ask the brokers, and retry for as long as the URL says.
namespace everseen::rdkafka {

/// Fills in the group's committed offsets; if there is none, a negative offset.
/// @throws backend_error  no broker answers, or this user has no permission
void read_committed(rd_kafka_t* client, const kafka_url& where, rd_kafka_topic_partition_list_t& offsets);

/// The id of the cluster; empty if the brokers give none.
[[nodiscard]] std::string cluster_of(rd_kafka_t* client);

/// The current number of partitions of a topic.    @throws  as read_committed
[[nodiscard]] std::int32_t partitions_of(rd_kafka_t* client, const kafka_url& where,
                                         const std::string& topic);

struct limits {
  std::uint64_t low = 0;   ///< the oldest available message
  std::uint64_t high = 0;  ///< one past the newest
};
/// @throws  as read_committed
[[nodiscard]] limits limits_of(rd_kafka_t* client, const kafka_url& where, const std::string& lane);

/// @return `wanted`; if messages from there on are gone and gap=skip allows it, the oldest available offset
/// @throws parameter_error  the lane ends before it: the topic is not the one that was read
/// @throws backend_error  messages are gone, and gap=skip is not set; and as read_committed
[[nodiscard]] std::uint64_t start_after_gap(rd_kafka_t* client, const kafka_url& where,
                                            const std::string& lane, std::uint64_t wanted);

}  // namespace everseen::rdkafka
