#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "everseen/redis/wire/reply.hpp"

namespace everseen::redis {

/// The reply encoded by these bytes.
inline reply reply_of(std::string_view wire) {
  reply_reader reader;
  reader.feed(wire);
  auto read = reader.next();
  if (!read) throw std::runtime_error(read.error());
  return **read;
}

}  // namespace everseen::redis
