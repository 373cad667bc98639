#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// The call that makes a value whose bits are zero, unless there is one (staging_scripts::create).
/// @param key  in the slot of its partition    @param life_ms  the time limit of the key
[[nodiscard]] script_call creation_of(const std::string& key, const announced_filter& header,
                                      std::string_view life_ms);

/// Makes a value with its bits: at a staged key, which becomes `key` when it has all of them, unless there is
/// a value already.
/// @param key  in the slot of its partition    @param life_ms  its time limit
/// @param bits  of each segment of the header
/// @throws backend_error, format_error, storage_error
void write_value(server_connections& connections, const filter_identity& f, const std::string& key,
                 const announced_filter& header, std::span<const std::span<const std::byte>> bits,
                 std::string_view life_ms);

}  // namespace everseen::redis
