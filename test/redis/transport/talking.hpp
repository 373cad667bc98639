#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// A request of one command that must not run twice.
inline request of(std::initializer_list<std::string_view> words) {
  return {{}, encode(words), 1, false};
}

/// The same, which may run twice.
inline request repeatable(std::initializer_list<std::string_view> words) {
  return {{}, encode(words), 1, true};
}

inline answer exchange_one(server_connections& s, const request& r) {
  return std::move(s.exchange(std::span(&r, 1)).front());
}

/// The outage that a request must meet; "answered" if there is none.
inline outage outage_of(server_connections& s, const request& r) {
  answer a = exchange_one(s, r);
  return a ? outage{"answered", false} : std::move(a.error());
}

}  // namespace everseen::redis
