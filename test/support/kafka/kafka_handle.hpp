#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "test/support/kafka/kafka_client.hpp"

/// What the clients of tests share: librdkafka's handles, and its errors as exceptions.
namespace everseen::test::kafka_handle {

constexpr int timeout_ms = 60'000;

inline void check(bool good, const std::string& action) {
  if (!good) throw std::runtime_error("kafka_client: " + action);
}
inline void check(rd_kafka_resp_err_t error, const std::string& action) {
  check(error == RD_KAFKA_RESP_ERR_NO_ERROR, action + ": " + rd_kafka_err2str(error));
}

using settings = std::initializer_list<std::pair<const char*, std::string>>;

inline rd_kafka_t* make(rd_kafka_type_t type, settings options) {
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  std::array<char, 256> message{};
  rd_kafka_conf_set_log_cb(conf, nullptr);
  for (const auto& [name, value] : options)
    check(rd_kafka_conf_set(conf, name, value.c_str(), message.data(), message.size()) == RD_KAFKA_CONF_OK,
          message.data());
  rd_kafka_t* const made = rd_kafka_new(type, conf, message.data(), message.size());
  check(made != nullptr, message.data());
  return made;
}

struct ends_client {
  void operator()(rd_kafka_t* made) const { rd_kafka_destroy(made); }
};
using client = std::unique_ptr<rd_kafka_t, ends_client>;

inline void check(rd_kafka_error_t* error, const std::string& action) {
  const std::string message = error == nullptr ? "" : rd_kafka_error_string(error);
  if (error != nullptr) rd_kafka_error_destroy(error);
  check(message.empty(), action + ": " + message);
}

/// Where a partition ends for readers of committed messages.
std::int64_t end_of(rd_kafka_t* asker, const std::string& topic, std::int32_t partition);

/// All are in the topic when it returns.
void produce_all(rd_kafka_t* producer, const std::string& topic, std::int32_t partition,
                 const std::vector<kafka_client::message>& messages);

}  // namespace everseen::test::kafka_handle
