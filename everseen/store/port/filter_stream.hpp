#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "everseen/core/format/byte_stream.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/stored_filter.hpp"

/// A filter of any store as the stream of bytes of `everseen export`: doc/format.md, "Export stream".
namespace everseen {

/// Writes a filter: its properties, its secret seed, and all bits, with checksums. It has every key added
/// before the call; keys added meanwhile may be in it.
/// @pre the filter hashes its keys as its spec says: it is not attached
void write_stream(const stored_filter& from, std::string_view name, const image::byte_sink& out);

/// Creates a filter from such a stream, to its end. Nothing is visible under the name before the whole stream
/// has been read and verified. No segment is made that is longer than what can follow.
/// @param bytes  of the source, as of a file; nothing: a pipe
/// @throws name_taken    @throws format_error  damaged, truncated, or bytes follow its end
/// @throws parameter_error  the store has no room for the bits
void read_stream(store& into, std::string_view name, const image::byte_source& from,
                 std::optional<std::uint64_t> bytes = {});

}  // namespace everseen
