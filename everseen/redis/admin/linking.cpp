#include "everseen/redis/admin/linking.hpp"

#include <string>

#include "everseen/core/base/names.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/store/link/linking.hpp"

namespace everseen::redis {

namespace {

link_facts facts_of(session& with, const filter_directory& in, std::string_view name, const found_filter& f) {
  const links_of_filter has = in.links().of(with, name);
  return {std::string(name), f.identity.spec.window.has_value(), has.asks ? has.asks->name : "",
          has.asked_by};
}

void require_own(std::string_view older, std::string_view newer, const found_filter& f) {
  if (f.header.attached && older != newer)
    throw parameter_error(quoted_name(newer) +
                          " is another program's; link an attached filter to one of everseen's own, as in: "
                          "everseen link " +
                          std::string(newer) + " " + std::string(older));
}

void require_no_jobs(session& with, std::string_view name, const found_filter& f) {
  everseen::require_no_jobs(name, job_list(std::string(name), f.identity).names(with),
                            "ask an older one first");
}

}  // namespace

void link(session& with, const filter_directory& in, std::string_view older, std::string_view newer,
          std::optional<std::chrono::milliseconds> life) {
  const found_filter old = in.look_up(with, older, false);
  const found_filter now = in.look_up(with, newer, false);
  require_own(older, newer, now);
  require_no_jobs(with, newer, now);
  require_linkable(facts_of(with, in, older, old), facts_of(with, in, newer, now));
  const link_hash links = in.links();
  const image::filter_id id = now.identity.id;
  const auto until = end_of_link(server_time(with, links.key()), life);
  if (!links.put(with, {std::string(newer), id, {std::string(older), until}}, old.identity.id))
    throw parameter_error(
        "one of the filters was dropped, linked or renamed by somebody else meanwhile; look, and try again");
  // If a link and a job are created concurrently, each writes its own entry before it looks for the other's,
  // so at least one finds the other.
  try {
    require_no_jobs(with, newer, now);
  } catch (const parameter_error&) {
    links.forget(with, newer, id);
    throw;
  }
}

void unlink(session& with, const filter_directory& in, std::string_view newer) {
  const image::filter_id id = in.open(with, newer, false).id;
  const link_hash links = in.links();
  if (!links.of(with, newer).asks) refuse_unlinked(newer);
  links.forget(with, newer, id);
}

}  // namespace everseen::redis
