#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/keyspace/link_hash.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

// Which filter asks which other one first: everseen/store/linked_filter.hpp.
//
// Of two filters that servers judge the newer one's header says so, and that of the older one names the
// newer, so that it is not dropped meanwhile. Where clients judge one of them, link_hash says so; the header
// of a newer one that servers judge says it, too, for jobs and the module.

/// From now on who opens `newer` asks `older` first.
/// @param life  for so long, by the clock of the server; nothing: until unlink()
/// @throws parameter_error  as store::link
/// @throws backend_error    also where scripts are forbidden
void link(session& with, const catalogue& names, std::string_view older, std::string_view newer,
          std::optional<std::chrono::milliseconds> life);

/// Who has `newer` open goes on asking the older one until he opens it again.
/// @throws parameter_error  there is no such filter, or it is linked to none
void unlink(session& with, const catalogue& names, std::string_view newer);

/// @throws parameter_error  the filter asks another one first, or is asked by one
void require_alone(session& with, const catalogue& names, const header& h);

/// The same of a filter that its clients judge.
void require_alone(session& with, const catalogue& names, std::string_view name);

/// @throws parameter_error  another filter asks this one first
void require_unlinked(session& with, const catalogue& names, const header& h);
/// The same of a filter of either kind.
void require_unasked(session& with, const catalogue& names, std::string_view name);

/// The links under the prefix of a catalogue.
[[nodiscard]] link_hash links_of(const catalogue& names);

}  // namespace everseen::redis
