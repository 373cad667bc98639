#pragma once

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
/// has been read and verified.
/// @throws name_taken    @throws format_error  damaged, truncated, or bytes follow its end
void read_stream(store& into, std::string_view name, const image::byte_source& from);

}  // namespace everseen
