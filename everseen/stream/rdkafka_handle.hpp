#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <librdkafka/rdkafka.h>

#include "everseen/stream/kafka_url.hpp"

/// What source and sink share of librdkafka's C interface. Included by .cpp files alone.
namespace everseen::rdkafka {

/// Ends what librdkafka made by the function that it has for that.
template <auto End>
struct ending {
  template <typename Made>
  void operator()(Made* made) const noexcept {
    End(made);
  }
};
template <typename Made, auto End>
using owned = std::unique_ptr<Made, ending<End>>;

using client_handle = owned<rd_kafka_t, rd_kafka_destroy>;
using configuration = owned<rd_kafka_conf_t, rd_kafka_conf_destroy>;
using queue_handle = owned<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using topic_handle = owned<rd_kafka_topic_t, rd_kafka_topic_destroy>;
using partition_list = owned<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>;
[[nodiscard]] inline partition_list partition_list_of(int room) {
  return partition_list(rd_kafka_topic_partition_list_new(room));
}
using group_metadata = owned<rd_kafka_consumer_group_metadata_t, rd_kafka_consumer_group_metadata_destroy>;
using failure = owned<rd_kafka_error_t, rd_kafka_error_destroy>;

/// What an error means for a job.
enum class trouble : std::uint8_t {
  passing,  ///< librdkafka deals with it, or the next attempt may succeed
  outage,   ///< one broker at least does not answer; whether another does, is to be asked
  lasting,  ///< only a person can help
};
[[nodiscard]] trouble judge(rd_kafka_resp_err_t error) noexcept;

/// One line: what was wrong, where, what to do.
/// @param said  librdkafka's own words; may be empty
[[nodiscard]] std::string explain(rd_kafka_resp_err_t error, std::string_view said, const kafka_url& where);

/// @throws parameter_error  if the place or the properties are to blame; else
/// @throws backend_error
[[noreturn]] void raise(rd_kafka_resp_err_t error, std::string_view said, const kafka_url& where);

/// The properties of the URL and of its file, then ours.
/// @param defaults  apply where the URL says nothing    @param fixed  apply whatever it says
/// @throws parameter_error  librdkafka does not know a property, or takes no such value
/// @throws storage_error  the file cannot be read
using settings = std::initializer_list<std::pair<const char*, std::string>>;
[[nodiscard]] configuration configure(const kafka_url& where, settings defaults, settings fixed);

/// Takes over the configuration.
/// @throws parameter_error  properties that do not go together, certificates that cannot be read
[[nodiscard]] client_handle make(rd_kafka_type_t type, configuration of, const kafka_url& where);

/// Waits until a broker tells of all topics of the URL.
/// @param heard  called between attempts; ends the waiting by throwing
/// @throws parameter_error  there is no such topic    @throws backend_error  nobody answers
void find_topics(rd_kafka_t* with, const kafka_url& where, const std::function<void()>& heard);

/// topic/partition
[[nodiscard]] std::string lane_name(std::string_view of, std::int32_t partition);
/// What lane_name() was made of; partition -1 if it was not.
[[nodiscard]] std::pair<std::string, std::int32_t> lane_parts(std::string_view lane);

}  // namespace everseen::rdkafka
