#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "everseen/filter/filter.hpp"
#include "everseen/redis/attached/attached_filter.hpp"

/// What there is to tell of filters that other programs keep.
namespace everseen {

/// The attached filter behind a handle; null where it is one of everseen's own.
[[nodiscard]] const redis::attached_filter* attached_behind(const filter& f) noexcept;

/// What the other program's filter is.
[[nodiscard]] nlohmann::ordered_json json_of(const redis::attachment& a);

/// All of a key's bits are set in this string.
[[nodiscard]] bool holds(const redis::attached_filter::key_bits& bits);

/// Where a key's bits are, for programs.    @throws  as attached_filter::bits_of
[[nodiscard]] nlohmann::ordered_json explanation_json(const redis::attached_filter& a, std::string_view key);

}  // namespace everseen
