#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/jobs/port/source.hpp"
#include "everseen/redis/wire/reply.hpp"

/// Entries of a Redis stream as records.
namespace everseen::redis_stream {

/// An id as a position: milliseconds << 20 | sequence. So ids and positions have the same order.
/// @return nothing if it is not an id, its sequence is 2^20 or more, or its time is after the year 2500
[[nodiscard]] std::optional<std::uint64_t> position_of(std::string_view id) noexcept;
[[nodiscard]] std::string id_of(std::uint64_t position);

/// Appends an entry as a JSON object of its fields, all strings, in their order.
/// @param fields  name, value, ...
void append_json(std::string& out, const redis::reply& fields);

/// Converts entries as XREADGROUP returns them into records, with their fields and the times of their ids.
/// Deleted entries are left out.
/// @param field  the record is the value of this field, and has no value if the entry has no such field;
///         empty: all, as JSON
/// @return the number of deleted entries: they were delivered once, and trimmed before they were settled
/// @throws format_error  an id that no position can represent
std::size_t read_entries(const redis::reply& entries, std::string_view field, source_batch& into);

}  // namespace everseen::redis_stream
