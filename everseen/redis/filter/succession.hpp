#pragma once

#include <cstdint>
#include <vector>

#include "everseen/redis/keyspace/filter_identity.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

// The steps after the decision that one filter succeeds another (filter_header.hpp): doc/format.md,
// "Rebuild". Any client can do each step, any number of times.

enum class placing : std::uint8_t {
  done,
  unnamed,  ///< no name leads to either: the filter was dropped, or rebuilt once more
  unmade,   ///< the successor was never completed; the old one stays in use
};
/// Lets the names of the old filter lead to its successor.
/// @throws storage_error  the old one is gone    @throws backend_error, format_error
[[nodiscard]] placing put_in_place(session& with, const filter_identity& old, const image::filter_id& by);

enum class sealing : bool { no, yes };
/// The filters that a filter asks, beginning with its predecessor.
/// @param seal  ends all their journals; only then may anything be added to the filter
/// @throws storage_error, backend_error, format_error
[[nodiscard]] std::vector<filter_identity> asked_before(session& with, const filter_identity& f,
                                                        sealing seal);

}  // namespace everseen::redis
