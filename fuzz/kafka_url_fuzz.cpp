// A URL of Kafka or of a Redis stream is either parsed or refused with parameter_error, and no refusal shows
// a password.
//
// Decodes: everseen/jobs/kafka/kafka_url.cpp, everseen/jobs/redis/redis_stream_url.cpp,
// everseen/core/base/url_text.cpp

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/jobs/kafka/kafka_url.hpp"
#include "everseen/jobs/redis/redis_stream_group.hpp"
#include "everseen/jobs/redis/redis_stream_url.hpp"

namespace {

using namespace everseen;

constexpr std::string_view secret = "secret";

bool has_secret_password(std::string_view text) {
  return text.find(":secret@") != std::string_view::npos ||
         text.find("password=secret") != std::string_view::npos;
}

void check_kafka(std::string_view text) {
  const kafka_url url = parse_kafka_url(text);
  if (url.topics.empty() || url.brokers.empty()) std::abort();
  const kafka_url again = parse_kafka_url(to_string(url));
  if (again.brokers != url.brokers || again.topics != url.topics) std::abort();
}

void check_redis_stream(std::string_view text) {
  const redis_stream_url url = parse_redis_stream_url(text);
  if (key_beside(url.stream, "x").find(url.stream) == std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto position = redis_stream::position_of(text))
    if (redis_stream::position_of(redis_stream::id_of(*position)) != position) std::abort();
  try {
    if (is_kafka_url(text)) check_kafka(text);
    if (is_redis_stream_url(text)) check_redis_stream(text);
  } catch (const parameter_error& e) {
    const bool once = text.find(secret) == text.rfind(secret);
    const bool shown = std::string_view(e.what()).find(secret) != std::string_view::npos;
    if (once && has_secret_password(text) && shown) std::abort();
  }
  return 0;
}
