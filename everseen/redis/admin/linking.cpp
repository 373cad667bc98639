#include "everseen/store/link/linking.hpp"

#include <string>

#include "everseen/core/base/names.hpp"
#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen::redis {

namespace {

void require_own(std::string_view older, std::string_view newer, const found_filter& f) {
  if (f.header.attached && older != newer)
    throw parameter_error(quoted_name(newer) +
                          " is another program's; link an attached filter to one of everseen's own, as in: "
                          "everseen link " +
                          std::string(newer) + " " + std::string(older));
}

void require_jobless(session& with, std::string_view name, const found_filter& f) {
  everseen::require_no_jobs(name, job_list(std::string(name), f.identity).names(with),
                            "ask an older one first");
}

}  // namespace

void filter_directory::link(session& with, std::string_view older, std::string_view newer,
                            std::optional<std::chrono::milliseconds> life) const {
  const found_filter old = look_up(with, older, false);
  const found_filter now = look_up(with, newer, false);
  require_own(older, newer, now);
  require_jobless(with, newer, now);
  const link_hash all = links();
  require_linkable(all.all(with), {older, old.identity.spec}, {newer, now.identity.spec});
  const image::filter_id id = now.identity.id;
  const auto until = end_of_link(server_time(with, all.key()), life);
  if (!all.put(with, {std::string(newer), {std::string(older), until}}, id, old.identity.id))
    throw parameter_error(
        "one of the filters was dropped, linked or renamed by another client meanwhile; check, and try "
        "again");
  // If a link and a job are created concurrently, each writes its own entry before it looks for the other's,
  // so at least one finds the other.
  try {
    require_jobless(with, newer, now);
  } catch (const parameter_error&) {
    all.forget(with, newer, id);
    throw;
  }
}

void filter_directory::unlink(session& with, std::string_view newer) const {
  const image::filter_id id = open(with, newer, false).id;
  if (!asked_first(links().all(with), newer)) refuse_unlinked(newer);
  links().forget(with, newer, id);
}

}  // namespace everseen::redis
