#include <librdkafka/rdkafka.h>

#include "everseen/jobs/port/source.hpp"

namespace everseen {

std::optional<std::string_view> record_envelope::header(const std::string& name) const {
  const void* value = nullptr;
  std::size_t size = 0;
  if (headers == nullptr || rd_kafka_header_get_last(headers, name.c_str(), &value, &size) != 0 ||
      value == nullptr)
    return std::nullopt;
  return std::string_view(static_cast<const char*>(value), size);
}

}  // namespace everseen
