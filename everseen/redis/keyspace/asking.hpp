#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// Sends one repeatable command about one key.
/// @throws format_error  the key has another type    @throws backend_error  no answer, or an error as the
///   answer
[[nodiscard]] reply ask_about(server_connections& connections, const route& key,
                              std::initializer_list<std::string_view> words);

/// Bytes that one command reads from a long string, or writes to it, where it need not be done in one step. A
/// reply counts only once it is whole, so over a link that is cut again and again only short ones arrive;
/// those that did are not asked for again. Commands are pipelined, so a good link is as fast as with longer
/// ones.
inline constexpr std::uint64_t piece_bytes = std::uint64_t{16} << 10;

/// Bytes of a string.
struct string_range {
  route source;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
/// Reads ranges, piece by piece: not in one step.
/// @return the bytes of each; fewer where the string ends
/// @throws format_error  a key has another type    @throws backend_error  no answer, or an error as the
/// answer
[[nodiscard]] std::vector<std::string> read_ranges(server_connections& connections,
                                                   std::span<const string_range> ranges);

/// The error for a key that is damaged or missing.
[[nodiscard]] format_error damaged_key(const std::string& key, const std::string& subject);

/// Milliseconds since 1970, the form of all times in fields.
[[nodiscard]] std::string to_text(event_time t);

}  // namespace everseen::redis
