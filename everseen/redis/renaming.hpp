#pragma once

#include <string_view>

#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

// A filter gets another name: doc/format.md, "Renaming". Its keys keep theirs, only the header moves.
//
//     header: moves_to ──> other header: all fields, came_from ──> each partition: named ──> no old header
//                          from here on it has the new name        ──> other header: no came_from
//
// Who dies before the other header is there has changed nothing: after some seconds the mark of it means
// nothing any more. Who dies after leaves a filter that works under its new name alone, and whoever opens,
// drops, renames or ends it does the rest.

/// @throws  as store::rename
void rename(session& with, const catalogue& names, std::string_view from, std::string_view to,
            store::namesake there);

/// Does what is left of a renaming; nothing if there is none.
/// @param h  as it was read under its new name; brought up to date    @throws format_error, backend_error
void finish_rename(session& with, const catalogue& names, header& h);

/// Does what is left of the renaming of a filter that had this name, so that it is free.
/// @throws format_error, backend_error
void finish_rename_from(session& with, const catalogue& names, std::string_view name);

/// For who changes a header as a whole: nobody may be moving it. A mark of one who died is taken away.
/// @throws storage_error  it is being renamed at this moment    @throws backend_error
void require_staying(session& with, header& h);

}  // namespace everseen::redis
