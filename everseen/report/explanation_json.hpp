#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "everseen/report/explanation.hpp"

namespace everseen {

/// 128 bits in hexadecimal, as people compare them.
[[nodiscard]] std::string hex(const digest& d);

/// What programs are told of an explanation.
[[nodiscard]] nlohmann::ordered_json json_of(const explanation& e);

}  // namespace everseen
