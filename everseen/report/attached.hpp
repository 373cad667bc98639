#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "everseen/filter/filter.hpp"
#include "everseen/redis/attached/attached_filter.hpp"

/// Reports on filters that other programs maintain.
namespace everseen {

/// The attached filter behind a handle; null if it is one of everseen's own.
[[nodiscard]] const redis::attached_filter* attached_behind(const filter& f) noexcept;

/// The type and parameters of the other program's filter.
[[nodiscard]] nlohmann::ordered_json json_of(const redis::attachment& a);

/// Whether all of a key's bits are set in this string.
[[nodiscard]] bool holds(const redis::attached_filter::key_bits& bits);

/// The bits of a key, for programs.    @throws  as attached_filter::bits_of
[[nodiscard]] nlohmann::ordered_json explanation_json(const redis::attached_filter& a, std::string_view key);

}  // namespace everseen
