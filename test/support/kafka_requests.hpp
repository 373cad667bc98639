#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "test/support/kafka_transactions.hpp"
#include "test/support/kafka_wire.hpp"

/// How kafka_transactions is asked over Kafka's protocol. The versions are those that versions_spoken()
/// lists; a relay has its brokers offer no others.
namespace everseen::test {

struct kafka_request {
  kafka_wire::api what{};
  std::int16_t version = 0;
  std::int32_t correlation = 0;  ///< the answer has the same
  std::string body{};            ///< behind the header
};
/// @param message  without its length
[[nodiscard]] kafka_request parse_kafka_request(const std::string& message);

/// Of each request that is read or rewritten, the newest version that is understood.
[[nodiscard]] const std::map<kafka_wire::api, std::int16_t>& versions_spoken();

/// The answer to a request about transactions.
/// @return nothing  another one: it is the brokers' to answer
[[nodiscard]] std::optional<std::string> answer_transaction(kafka_transactions& all,
                                                            const kafka_request& asked,
                                                            kafka_transactions::clock::time_point now);

/// Which member, of which group, asks for its share of the partitions (SyncGroup); nothing for other
/// requests.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> member_that_syncs(
    const kafka_request& asked);
/// The answer that has it join once more.
[[nodiscard]] std::string sync_again_later(const kafka_request& asked);

/// Where a broker's port is reached instead.
using port_map = std::map<std::int32_t, std::int32_t>;

/// Takes note of what brokers answered, and puts into it what they do not know: the relay's ports, and the
/// offsets of transactions.
void amend_answer(std::string& answer, const kafka_request& asked, kafka_transactions& all,
                  const port_map& ports);

}  // namespace everseen::test
