/// What source and sink share of librdkafka's C interface. Included only by .cpp files.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "everseen/jobs/kafka/kafka_url.hpp"

namespace everseen::rdkafka {

/// Destroys an object of librdkafka by the function made for it.
template <auto End>
struct deleter {
  template <typename Made>
  void operator()(Made* made) const noexcept {
    End(made);
  }
};
template <typename Made, auto End>
using owned = std::unique_ptr<Made, deleter<End>>;

using client_handle = owned<rd_kafka_t, rd_kafka_destroy>;
using configuration = owned<rd_kafka_conf_t, rd_kafka_conf_destroy>;
using queue_handle = owned<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using topic_handle = owned<rd_kafka_topic_t, rd_kafka_topic_destroy>;
using partition_list = owned<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
[[nodiscard]] inline partition_list partition_list_of(int room) {
  return partition_list(rd_kafka_topic_partition_list_new(room));
}
using group_metadata = owned<rd_kafka_consumer_group_metadata_t, rd_kafka_consumer_group_metadata_destroy>;
using header_list = owned<rd_kafka_headers_t, rd_kafka_headers_destroy>;
using failure = owned<rd_kafka_error_t, rd_kafka_error_destroy>;

/// How long a call waits for an answer of the cluster, unless it is part of a transaction.
inline constexpr int query_timeout_ms = 1'000;

/// rd_kafka_metadata. While a connection is new and its broker has not yet named its versions, librdkafka
/// says that the broker does not support the question. Every broker does, so that is reported as a connection
/// that failed.
[[nodiscard]] rd_kafka_resp_err_t ask_metadata(rd_kafka_t* client, rd_kafka_topic_t* topic, int timeout_ms,
                                               const struct rd_kafka_metadata** answer);

using settings = std::vector<std::pair<const char*, std::string>>;
/// The properties of the URL and of its file, then ours.
/// @param defaults  apply if the URL does not set them    @param fixed  always apply
/// @throws parameter_error  librdkafka does not know a property, or does not accept its value
/// @throws storage_error  the file cannot be read
[[nodiscard]] configuration configure(const kafka_url& where, const settings& defaults,
                                      const settings& fixed);

/// Takes ownership of the configuration.
/// @throws parameter_error  properties that contradict each other, or certificates that cannot be read
[[nodiscard]] client_handle create_client(rd_kafka_type_t type, configuration options,
                                          const kafka_url& where);

/// How long brokers that answer may say that they know no such topic or partition.
inline constexpr std::chrono::seconds longest_unknown{10};

/// Waits until a broker knows all topics of the URL: for `retry_for` until one answers, and for
/// longest_unknown from its first answer without the topic.
/// @param heard  called between attempts; ends the waiting by throwing
/// @throws parameter_error  there is no such topic    @throws backend_error  no broker answers
void find_topics(rd_kafka_t* client, const kafka_url& where, const std::function<void()>& heard);

/// topic/partition
[[nodiscard]] std::string lane_name(std::string_view topic, std::int32_t partition);
/// The parts of a lane_name(); partition -1 if it is not one.
[[nodiscard]] std::pair<std::string, std::int32_t> lane_parts(std::string_view lane);

// Where reading a partition begins. All functions ask the brokers, and retry for as long as the URL says.

/// Fills in the group's committed offsets; if there is none, a negative offset.
/// @throws backend_error  no broker answers, or this user has no permission
void read_committed(rd_kafka_t* client, const kafka_url& where, rd_kafka_topic_partition_list_t& offsets);

/// Commits offsets for the group.    @throws  as read_committed
void write_committed(rd_kafka_t* client, const kafka_url& where,
                     const rd_kafka_topic_partition_list_t& offsets);

/// The id of the cluster; empty if the brokers give none.
[[nodiscard]] std::string cluster_of(rd_kafka_t* client);

/// The current number of partitions of a topic.    @throws  as read_committed
[[nodiscard]] std::int32_t partitions_of(rd_kafka_t* client, const kafka_url& where,
                                         const std::string& topic);

struct limits {
  std::uint64_t low = 0;   ///< the oldest available message
  std::uint64_t high = 0;  ///< one past the newest
};
/// @throws parameter_error  there is no such partition; and as read_committed
[[nodiscard]] limits limits_of(rd_kafka_t* client, const kafka_url& where, const std::string& lane);

/// Waits until the partition is known, or for longest_unknown. Another error than that is not looked at.
/// @throws parameter_error  there is no such partition
void find_partition(rd_kafka_t* client, const kafka_url& where, const std::string& lane);

/// @return `wanted`; if messages from there on are gone and gap=skip allows it, the oldest available offset
/// @throws parameter_error  the lane ends before it: the topic is not the one that was read
/// @throws backend_error  messages are gone, and gap=skip is not set; and as read_committed
[[nodiscard]] std::uint64_t start_after_gap(rd_kafka_t* client, const kafka_url& where,
                                            const std::string& lane, std::uint64_t wanted);

}  // namespace everseen::rdkafka
