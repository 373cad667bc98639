#pragma once

#include <string>
#include <string_view>

#include "everseen/server/registry/filter_registry.hpp"

namespace everseen::server {

/// A filter that a client wants to create: schema `new_filter` of openapi.json.
struct new_filter {
  std::string key{};  ///< its name
  filter_registry::request how{};
};

/// @throws http_problem, parameter_error  says what is invalid
[[nodiscard]] new_filter parse_new_filter(std::string_view body);

}  // namespace everseen::server
