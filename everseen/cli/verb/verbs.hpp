#pragma once

#include <string_view>
#include <vector>

#include "everseen/cli/verb/verb.hpp"

namespace everseen::cli {

verb add_verb();
verb attach_verb();
verb bench_verb();
verb check_verb();
verb completion_verb();
verb counts_verb();
verb create_verb();
verb dedup_verb();
verb drop_verb();
verb explain_verb();
verb export_verb();
verb gen_verb();
verb hash_verb();
verb import_verb();
verb info_verb();
verb jobs_verb();
verb link_verb();
verb list_verb();
verb man_verb();
verb migrate_verb();
verb plan_verb();
verb rebuild_verb();
verb rename_verb();
verb reset_verb();
verb serve_verb();
verb stream_verb();

/// All verbs, in the order of the help.
[[nodiscard]] const std::vector<verb>& all_verbs();

/// The verb of this name, or null.
[[nodiscard]] const verb* find_verb(std::string_view name);

/// @throws parameter_error  unknown verb; suggests the closest
[[nodiscard]] const verb& need_verb(std::string_view name);

}  // namespace everseen::cli
