#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/partition/partition_state.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// A partition that its server judges: one value of the module's own type (doc/module.md), at the key
/// filter_keys::state().
///
/// The server holds spec, segments and successor of a partition in this value. A client reads it for
/// reports, copies and rebuilds, and creates it; keys are judged without reading it (packed_keys.hpp).
struct stored_value {
  partition_state state{};
  content_id content{};                         ///< replaced whenever all keys are removed
  std::optional<image::filter_id> successor{};  ///< it is sealed: nothing is added to it any more
};

/// A number for a value that is made, or whose keys are removed.
[[nodiscard]] content_id random_content();
/// As an argument of a command: 8 bytes.
[[nodiscard]] std::string bytes_of(content_id content);

/// What a value has besides its bits, as the first argument of EVERSEEN.LOADCHUNK that has bytes: the chunk
/// with the iterator 1.
[[nodiscard]] announced_filter header_of(const filter_identity& f, std::uint32_t partition,
                                         const partition_state& s, content_id content);

/// The command that asks for a value, and its answer.
[[nodiscard]] request question_about_value(const filter_identity& f, std::uint32_t partition);
/// @throws storage_error  there is none: the filter was dropped
/// @throws format_error   damaged, or of another filter; names the key and says what to do
/// @throws backend_error  no answer, or another error as the answer
[[nodiscard]] stored_value value_in(const filter_identity& f, std::uint32_t partition, const answer& a);
/// Both. Cost: one round trip.    @throws  as value_in
[[nodiscard]] stored_value read_value(server_connections& connections, const filter_identity& f,
                                      std::uint32_t partition);

/// The spec of a filter that is one value, made by the library or by BF.RESERVE.
/// @throws parameter_error  there is no key, or the value is a part of a filter of several
/// @throws format_error     the key has another type, or is damaged    @throws backend_error
[[nodiscard]] spec spec_of_value(server_connections& connections, const filter_keys& value);

/// Reads the bits of a segment.
/// @return false  the value no longer has it: the window has left it, or all keys were removed
/// @throws  as value_in
[[nodiscard]] bool read_bits(server_connections& connections, const filter_identity& f, const segment_id& id,
                             std::span<std::byte> into);

/// The successor that an error of the module names; nothing: it is another error.
[[nodiscard]] std::optional<image::filter_id> successor_in(const reply& error);

/// The meaning of an error about a value that a command does not handle itself.
/// @throws storage_error, format_error, backend_error  always
[[noreturn]] void raise_refusal(const filter_identity& f, std::uint32_t partition, const reply& error);

}  // namespace everseen::redis
