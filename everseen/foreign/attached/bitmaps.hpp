/// The strings of an attached filter, read as they are now.
///
/// If a program stores the sizes of its filter, as Redisson does, each request reads them as well, and fails
/// if they differ from the attached ones. All functions throw format_error (a string has another type or is
/// too long, the cursor is not a number, the sizes differ) and backend_error.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/foreign/attached/attachment.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/redis/wire/reply.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen::foreign {

struct bitmap {
  bitmap_place place;
  std::string server{};
  std::uint64_t bytes = 0;  ///< 0: there is no such key
  std::uint64_t set_bits = 0;
};

/// All strings of a filter.
/// Cost: the servers read all bits, in ranges of a megabyte, two at a time, so that other clients wait for a
/// millisecond at most.
[[nodiscard]] std::vector<bitmap> survey(redis::server_connections& connections, const attachment& a);
/// The same without reading bits: `set_bits` is 0.    Cost: one command for each string.
[[nodiscard]] std::vector<bitmap> measure(redis::server_connections& connections, const attachment& a);

/// The places of its strings; for a chain, up to the newest by its cursor.
[[nodiscard]] std::vector<bitmap_place> places_now(redis::server_connections& connections,
                                                   const attachment& a);

/// The bytes of a string, a page at a time.
void read_string(redis::server_connections& connections, const attachment& a, const bitmap_place& place,
                 const std::function<void(std::string_view)>& take);

using key_bits = foreign_bits::key_bits;
/// In every string that may hold the key.    @throws parameter_error  the funnel cannot read the key
[[nodiscard]] std::vector<key_bits> bits_of(redis::server_connections& connections, const attachment& a,
                                            std::string_view key);

/// The sizes that the filter's program stores.
/// @param a  all but the numbers of bits and probes
/// @throws parameter_error  there are none: the program has no such filter, or not one that could be attached
[[nodiscard]] scheme stored_sizes(redis::server_connections& connections, const attachment& a);

/// The hash in which Redisson stores the sizes of its filter. Redisson compares them in each call, and so
/// does everseen: if a filter was deleted and created again with other sizes, every key has other positions.

[[nodiscard]] bool has_config(const attachment& a) noexcept;

/// The key of the hash.    @pre has_config(a)
[[nodiscard]] std::string config_key(const attachment& a);
/// What a script compares with "SIZE HASHITERATIONS" of the hash; empty if there is none.
[[nodiscard]] std::string config_text(const attachment& a);
/// The command that reads the hash.    @pre has_config(a)
[[nodiscard]] std::string config_request(const attachment& a);

/// The fault in its reply; nothing if the sizes are those of the attachment.
[[nodiscard]] std::optional<std::string> config_fault(const attachment& a, const redis::reply& r);
/// The same for sizes found by a script: "SIZE HASHITERATIONS".
[[nodiscard]] std::string config_fault(const attachment& a, std::string_view found);

/// The sizes in the reply.
/// @throws parameter_error  there is no such hash, or its numbers are impossible    @throws backend_error
[[nodiscard]] scheme read_config(const attachment& a, const redis::reply& r);

}  // namespace everseen::foreign
