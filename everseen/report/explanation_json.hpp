#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "everseen/report/explanation.hpp"

namespace everseen {

/// 128 bits in hexadecimal.
[[nodiscard]] std::string hex(const digest& d);

/// An explanation for programs.
[[nodiscard]] nlohmann::ordered_json json_of(const explanation& e);

}  // namespace everseen
