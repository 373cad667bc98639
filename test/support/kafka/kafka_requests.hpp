#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "test/support/kafka/kafka_transactions.hpp"
#include "test/support/kafka/kafka_wire.hpp"

/// Kafka's protocol for kafka_transactions. The versions are those of versions_spoken(); a relay has its
/// brokers offer no others.
namespace everseen::test {

struct kafka_request {
  kafka_wire::api what{};
  std::int16_t version = 0;
  std::int32_t correlation = 0;  ///< repeated in the answer
  std::string body{};            ///< after the header
};
/// @param message  without its length
[[nodiscard]] kafka_request parse_kafka_request(const std::string& message);

/// For each request that is read or rewritten, the newest version that is understood.
[[nodiscard]] const std::map<kafka_wire::api, std::int16_t>& versions_spoken();

/// The answer to a request about transactions.
/// @return nothing  another request: the brokers must answer it
[[nodiscard]] std::optional<std::string> answer_transaction(kafka_transactions& all,
                                                            const kafka_request& asked,
                                                            kafka_transactions::clock::time_point now);

/// The group and the member of a JoinGroup or SyncGroup request, which is answered only once all members have
/// sent theirs. Nothing for other requests, and for a new member, whose name is not known yet.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> member_that_waits(
    const kafka_request& asked);
/// The answer to such a request that makes the member join again.
[[nodiscard]] std::string join_again_later(const kafka_request& asked);

/// Maps a broker's port to the port to use instead.
using port_map = std::map<std::int32_t, std::int32_t>;

/// Records a broker's answer, and adds what brokers do not know: the relay's ports, and the offsets of
/// transactions.
void amend_answer(std::string& answer, const kafka_request& asked, kafka_transactions& all,
                  const port_map& ports);

}  // namespace everseen::test
