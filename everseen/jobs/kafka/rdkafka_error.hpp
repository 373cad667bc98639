/// What librdkafka's errors mean for a job, and what to say of them. Included only by .cpp files.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <librdkafka/rdkafka.h>

#include "everseen/jobs/kafka/kafka_url.hpp"

namespace everseen::rdkafka {

/// What an error means for a job.
enum class trouble : std::uint8_t {
  passing,  ///< librdkafka handles it, or a retry may succeed
  outage,   ///< at least one broker does not answer; ask whether another does
  lasting,  ///< needs human intervention
};
[[nodiscard]] trouble judge(rd_kafka_resp_err_t error) noexcept;
/// The group has a later generation. Another worker may have this one's partitions.
[[nodiscard]] bool is_left_behind(rd_kafka_resp_err_t error) noexcept;

/// Why a call failed or a message was not sent: once an error has ended a client for good, that one, whatever
/// librdkafka says of each call and message since.
struct cause {
  rd_kafka_resp_err_t error;
  std::string message;  ///< librdkafka's own message; may be empty
};
[[nodiscard]] cause cause_of(rd_kafka_t* client, rd_kafka_resp_err_t error);

/// Whether a broker, or this client by what a broker last told it, knows no such topic or partition. Another
/// may know it already.
[[nodiscard]] bool is_unknown(rd_kafka_resp_err_t error) noexcept;

/// One line: what was wrong, where, what to do.
/// @param message  librdkafka's own message; may be empty
[[nodiscard]] std::string explain(rd_kafka_resp_err_t error, std::string_view message,
                                  const kafka_url& where);

/// @throws parameter_error  the URL or the properties are the cause; else
/// @throws backend_error
[[noreturn]] void raise(rd_kafka_resp_err_t error, std::string_view message, const kafka_url& where);

}  // namespace everseen::rdkafka
