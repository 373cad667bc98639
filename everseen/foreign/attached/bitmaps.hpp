#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/foreign/attached/attachment.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/store/port/stored_filter.hpp"

/// The strings of an attached filter, read as they are now.
///
/// If a program stores the sizes of its filter, as Redisson does, each request reads them as well, and fails
/// if they differ from the attached ones. All functions throw format_error (a string has another type or is
/// too long, the cursor is not a number, the sizes differ) and backend_error.
namespace everseen::redis {

struct bitmap {
  bitmap_place place;
  std::string server{};
  std::uint64_t bytes = 0;  ///< 0: there is no such key
  std::uint64_t set_bits = 0;
};

/// All strings of a filter.
/// Cost: the servers read all bits, in ranges of a megabyte, two at a time, so that other clients wait for a
/// millisecond at most.
[[nodiscard]] std::vector<bitmap> survey(session& connections, const attachment& a);
/// The same without reading bits: `set_bits` is 0.    Cost: one command for each string.
[[nodiscard]] std::vector<bitmap> measure(session& connections, const attachment& a);

/// The places of its strings; for a chain, up to the newest by its cursor.
[[nodiscard]] std::vector<bitmap_place> places_now(session& connections, const attachment& a);

/// The bytes of a string, a page at a time.
void read_string(session& connections, const attachment& a, const bitmap_place& place,
                 const std::function<void(std::string_view)>& take);

using key_bits = foreign_bits::key_bits;
/// In every string that may hold the key.    @throws parameter_error  the funnel cannot read the key
[[nodiscard]] std::vector<key_bits> bits_of(session& connections, const attachment& a, std::string_view key);

/// The sizes that the filter's program stores.
/// @param a  all but the numbers of bits and probes
/// @throws parameter_error  there are none: the program has no such filter, or not one that could be attached
[[nodiscard]] foreign::scheme stored_sizes(session& connections, const attachment& a);

}  // namespace everseen::redis
