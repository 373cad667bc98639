#include "everseen/redis/ending.hpp"

#include <string>

#include "everseen/redis/jobs.hpp"
#include "everseen/redis/redis_rebuild.hpp"
#include "everseen/redis/renaming.hpp"
#include "everseen/redis/upkeep.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

namespace {

std::string id_text(const remote_filter& f) {
  return {reinterpret_cast<const char*>(f.id.data()), f.id.size()};
}

std::string text_of(std::optional<event_time> when) {
  return when ? to_text(*when) : "";
}

bool is_earlier(std::optional<event_time> when, std::optional<event_time> than) {
  return when && (!than || *when < *than);
}

/// Whether the header has taken it.
bool announce(session& with, const header& h, std::optional<event_time> when) {
  const auto text_of_number = [](std::uint64_t n) { return n == 0 ? std::string() : std::to_string(n); };
  header_fields changes = {{"ends_next", when ? to_text(*when) : std::string(never)},
                           {"end_number", std::to_string(h.end_number + 1)}};
  if (is_earlier(when, h.live.ends_at)) changes.emplace_back("ends_at", to_text(*when));
  return change_header(with, h.live.keys.header(),
                       {{"id", id_text(h.live)},
                        {"ready", std::string(ready)},
                        {"end_number", text_of_number(h.end_number)},
                        {"ends_at", text_of(h.live.ends_at)},
                        {"next", ""},
                        {"jobs", ""},
                        {"moves_to", ""}},
                       changes);
}

}  // namespace

void end_at(session& with, const catalogue& names, std::string_view name, std::optional<event_time> when) {
  constexpr int attempts = 100;  // somebody else gives it an end each time: then something is broken
  for (int i = 0; i < attempts; ++i) {
    header h = names.read_header(with, name);
    if (h.attached)
      throw parameter_error("'" + std::string(name) +
                            "' is attached: its keys end when its own program says so");
    require_no_jobs(with, h, "be given another end");
    finish_rename(with, names, h);
    finish_rebuild(with, names, h);
    if (h.next)
      throw parameter_error("'" + std::string(name) + "' is being rebuilt; give it an end when that is done");
    require_staying(with, h);
    // An index that knew the end too late would take the header that went with it for a lost one.
    if (is_earlier(when, h.live.ends_at)) {
      remote_filter ending = h.live;
      ending.ends_at = when;
      (void)names.list(with, ending);
    }
    if (!announce(with, h, when)) {
      names.list_again(with, name);
      continue;
    }
    h.next_end = header::ending{when};
    ++h.end_number;
    return finish_end(with, names, h);
  }
  throw storage_error("the filter '" + std::string(name) + "' changes faster than it can be given an end", 0,
                      names.keys_of(name).header());
}

void finish_end(session& with, const catalogue& names, header& h) {
  if (!h.next_end) return;
  const std::string& name = h.live.keys.name();
  const auto when = h.next_end->when;
  for (std::uint32_t p = 0; p < h.live.spec.partitions; ++p)
    end_partition(with, h.live, p, h.end_number, when);
  h.live.ends_at = when;
  names.end_signs(with, h.live);
  (void)change_header(with, h.live.keys.header(),
                      {{"id", id_text(h.live)}, {"end_number", std::to_string(h.end_number)}},
                      {{"ends_at", text_of(when)}, {"ends_next", ""}});
  if (names.is_ready(with, name)) {
    (void)names.list(with, h.live);
    h = names.read_header(with, name);
    return finish_end(with, names, h);  // where somebody gave it yet another one
  }
  h.next_end.reset();  // it has ended by now
}

}  // namespace everseen::redis
