/// Import and export of other systems' filters.
///
/// An imported filter is an everseen filter with a foreign layout: every store keeps it and every call works
/// on it. Keys are added by the rules of the original system, so the filter can be exported again. For keys
/// added elsewhere, the answers are as good as the bits in the file.
///
/// A truncated, damaged or inconsistent file is a format_error that names the place; it leaves nothing
/// behind. If the length of the file is known, the check happens before any allocation. For a pipe, it
/// happens before more is requested than the store has room for. The name appears only after the whole file
/// has been read. Threads: any number of these calls may run concurrently.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "everseen/core/base/error.hpp"
#include "everseen/core/format/byte_stream.hpp"
#include "everseen/core/hash/funnel.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen {

/// A file, and its length if known (a pipe has none).
struct foreign_source {
  image::byte_source read;
  std::optional<std::uint64_t> bytes{};
};

/// Facts about a filter that Guava's stream omits.
struct guava_facts {
  funnel_kind funnel = funnel_kind::bytes;
  /// expectedInsertions; nothing: the number of keys at which half of the bits are set
  std::optional<std::uint64_t> capacity{};
};

/// Creates a filter from what BloomFilter.writeTo wrote.
/// @throws name_taken
/// @throws format_error     the file is damaged, or not Guava's
/// @throws parameter_error  the file is sound but cannot be kept: more than 64 probes, a bit array longer
///   than the store allows, or not enough room
/// Cost: a second per GB, mostly for page faults (doc/measurements.md, "Filters of other systems").
/// Source: doc/format.md, "Guava's stream"
void import_guava(store& into, std::string_view name, const foreign_source& from, const guava_facts& facts);

/// Writes what BloomFilter.writeTo would write.
/// @throws parameter_error  the layout is neither guava32 nor guava64
void export_guava(const filter& f, const image::byte_sink& out);

/// Creates a filter from a file of BF.LOADCHUNK commands.
///
/// @throws  as import_guava; parameter_error also for the 32-bit hash and for rates below 1e-15; format_error
///   also for a chain that does not grow by RedisBloom's rules
void import_redisbloom(store& into, std::string_view name, const foreign_source& from);

/// Writes the commands that recreate the filter on a server with RedisBloom, under the given key.
///
/// Keys added meanwhile may be included; the counts then omit them.
/// @throws parameter_error  the layout is not redisbloom
/// @throws storage_error    the filter was emptied meanwhile; discard what was written
void export_redisbloom(const filter& f, std::string_view key, const image::byte_sink& out);

/// The size of the buffers of imports and exports.
inline constexpr std::size_t foreign_buffer_bytes = std::size_t{256} << 10;

}  // namespace everseen
