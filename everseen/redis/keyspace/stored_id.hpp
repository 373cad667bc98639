#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/format/image.hpp"
#include "everseen/redis/wire/reply.hpp"

namespace everseen::redis {

/// The id of a filter as fields hold it: its 16 bytes.
[[nodiscard]] std::string bytes_of(const image::filter_id& id);
/// @param key  that holds them    @throws format_error  they are something else
[[nodiscard]] image::filter_id id_in(std::string_view bytes, const std::string& key);
/// The same of a field that may be missing.    @throws  as above
[[nodiscard]] std::optional<image::filter_id> id_in_field(const reply& field, const std::string& key);

}  // namespace everseen::redis
