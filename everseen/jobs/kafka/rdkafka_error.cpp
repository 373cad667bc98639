#include "everseen/jobs/kafka/rdkafka_error.hpp"

#include <algorithm>
#include <array>

#include "everseen/core/base/error.hpp"

namespace everseen::rdkafka {

namespace {

std::string topics_of(const kafka_url& where) {
  std::string names;
  for (const std::string& each : where.topics) names += (names.empty() ? "'" : ", '") + each + "'";
  return names;
}

/// Before 2.6.1, librdkafka repeats its nonce in the last message of SCRAM (its pull request 4895). Brokers
/// take that no more since Kafka 3.8.1.
std::string advice_to_log_in(std::string_view message) {
  constexpr int first_right_version = 0x020601ff;
  std::string text = "the credentials were refused; check sasl.mechanism, sasl.username, sasl.password";
  if (rd_kafka_version() < first_right_version && message.find("SCRAM") != std::string_view::npos)
    text += std::string("; Kafka 3.8.1 and later refuses SCRAM by librdkafka ") + rd_kafka_version_str() +
            " with any: that needs librdkafka 2.6.1, as in Debian 13, or another sasl.mechanism";
  return text;
}

bool is_by_tls(const kafka_url& where) {
  return std::ranges::any_of(where.properties, [](const auto& property) {
    return property.first == "security.protocol" &&
           (property.second.ends_with("ssl") || property.second.ends_with("SSL"));
  });
}

/// What to do about an error; empty if librdkafka's own message must do.
std::string advice(rd_kafka_resp_err_t error, std::string_view message, const kafka_url& where) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
      return "there is no topic " + topics_of(where) +
             "; check its name, or make it: kafka-topics.sh --create --topic NAME --partitions N";
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return "this user may not use the topic " + topics_of(where) +
             "; kafka-acls.sh --add --topic grants it, with --operation Read for a source, Write for a sink";
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return "this user may write to no topic; kafka-acls.sh --add --operation Write --topic grants it "
             "(before "
             "Kafka 2.8, --operation IdempotentWrite --cluster, too)";
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return "this user may not use the consumer group; kafka-acls.sh --add --operation Read --group grants "
             "it";
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return "this user may not use the transactional.id; kafka-acls.sh --add --operation Write "
             "--transactional-id grants it";
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return advice_to_log_in(message);
    case RD_KAFKA_RESP_ERR__SSL:
      return "TLS failed; check security.protocol, ssl.ca.location and the port";
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
      return is_by_tls(where)
                 ? "no broker answers; is Kafka running there, is the port right, does it want TLS, "
                   "and does it take this client's certificate (ssl.certificate.location)?"
                 : "no broker answers; is Kafka running there, is the port right, does it want TLS "
                   "(security.protocol=ssl)?";
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return "an event is larger than Kafka accepts; raise message.max.bytes in the URL, and "
             "max.message.bytes of the topic";
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
      return "the topic refuses the time of an event, which is too far from the broker's clock; raise "
             "message.timestamp.after.max.ms or message.timestamp.before.max.ms of the topic (before Kafka "
             "3.6, "
             "message.timestamp.difference.max.ms), or give it message.timestamp.type=LogAppendTime";
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
      return "the topic refuses an event; if its cleanup.policy is compact, every event needs a key, which "
             "events from files and Redis streams do not have";
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
      return "another worker has begun with the same transactional.id, or this one was silent for longer "
             "than transaction.timeout.ms; nothing is lost: start it again, and give each worker its own id";
    case RD_KAFKA_RESP_ERR_INVALID_TXN_STATE:
      return "the brokers were away for longer than transaction.timeout.ms, and have aborted the "
             "transaction; "
             "nothing is lost: start it again";
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
      return "another worker has the same group.instance.id; give each its own";
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
      return "the group has members that do not share partitions as everseen does (cooperative-sticky); "
             "write group= with a name of its own";
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return "a partition of the topic " + topics_of(where) +
             " is gone; if the topic was created again, count it under another --job";
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
      return "the broker does not allow this session.timeout.ms; its group.min.session.timeout.ms and "
             "group.max.session.timeout.ms are the limits";
    case RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED:
      return "the consumer group has as many members as the broker allows (group.max.size)";
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
      return "the broker is too old; transactions that carry offsets need Kafka 2.5";
    default:
      return {};
  }
}

}  // namespace

trouble judge(rd_kafka_resp_err_t error) noexcept {
  switch (error) {
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
      return trouble::outage;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
    case RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED:
    case RD_KAFKA_RESP_ERR__FATAL:
      return trouble::lasting;
    default:
      return trouble::passing;
  }
}

bool is_left_behind(rd_kafka_resp_err_t error) noexcept {
  return error == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION || error == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID;
}

cause cause_of(rd_kafka_t* client, rd_kafka_resp_err_t error) {
  std::array<char, 512> message{};
  const auto first = rd_kafka_fatal_error(client, message.data(), message.size());
  if (first == RD_KAFKA_RESP_ERR_NO_ERROR) return {error, {}};
  return {first, message.data()};
}

std::string explain(rd_kafka_resp_err_t error, std::string_view message, const kafka_url& where) {
  const std::string known = advice(error, message, where);
  const std::string words = message.empty() ? rd_kafka_err2str(error) : std::string(message);
  return to_string(where) + ": " + (known.empty() ? words : known + " (" + words + ")");
}

bool is_unknown(rd_kafka_resp_err_t error) noexcept {
  return error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
         error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

void raise(rd_kafka_resp_err_t error, std::string_view answer, const kafka_url& where) {
  const std::string message = explain(error, answer, where);
  if (is_unknown(error)) throw parameter_error(message);
  throw backend_error(message);
}

}  // namespace everseen::rdkafka
