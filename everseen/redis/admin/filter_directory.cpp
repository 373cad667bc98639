#include "everseen/redis/admin/filter_directory.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "everseen/core/error.hpp"
#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/command.hpp"
#include "everseen/redis/filter/filter_end.hpp"
#include "everseen/redis/filter/succession.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/store/store.hpp"
#include "everseen/store/time_source.hpp"

namespace everseen::redis {

namespace {

constexpr std::size_t at_once = 256;

/// Sends many requests, some at a time.    @throws backend_error, format_error
std::vector<answer> send_all(session& with, const std::vector<request>& requests) {
  std::vector<answer> all;
  for (std::size_t from = 0; from < requests.size(); from += at_once) {
    const auto some = std::span(requests).subspan(from, std::min(at_once, requests.size() - from));
    std::vector<answer> answers = with.exchange(some);
    for (std::size_t i = 0; i < answers.size(); ++i) (void)expect_reply(answers[i], some[i].to.key);
    std::ranges::move(answers, std::back_inserter(all));
  }
  return all;
}

/// Each time somebody else has changed it.
constexpr int most_attempts = 100;

storage_error changes_too_fast(std::string_view name) {
  return storage_error(
      "'" + std::string(name) + "' is rebuilt, renamed or made anew by others, again and again", 0, {});
}

}  // namespace

bool filter_directory::has_ended(session& with, const image::filter_id& id) const {
  const filter_keys keys(prefix_, id);
  return have_ended(with, std::span(&keys, 1)).front();
}

std::optional<image::filter_id> filter_directory::find(session& with, std::string_view name) const {
  const auto id = names_.find(with, name);
  return id && !has_ended(with, *id) ? id : std::nullopt;
}

bool filter_directory::lists(session& with, std::string_view name) const {
  return names_.find(with, name).has_value();
}

/// All names, those whose filters have ended apart.
std::pair<name_index::entries, name_index::entries> filter_directory::live_and_ended(session& with) const {
  name_index::entries live = names_.all(with);
  name_index::entries over;
  std::vector<filter_keys> keys;
  for (const auto& [name, id] : live) keys.emplace_back(prefix_, id);
  const std::vector<bool> ended = have_ended(with, keys);
  auto at = live.begin();
  for (const bool has_ended : ended) {
    const auto one = at++;
    if (has_ended) over.insert(live.extract(one));
  }
  return {std::move(live), std::move(over)};
}

std::vector<std::string> filter_directory::names(session& with) const {
  std::vector<std::string> names;
  for (const auto& [name, id] : live_and_ended(with).first) names.push_back(name);
  return names;
}

filter_identity filter_directory::create(session& with, std::string_view name, const spec& s,
                                         std::optional<std::chrono::milliseconds> life) const {
  if (has(with, name)) throw filter_exists(name);
  require_first_server(with, name);
  const filter_identity made = draft(s);
  std::optional<event_time> end;
  if (life) end = end_after(catalogue::server_time(with, made.keys.header()), *life);
  prepare(with, made, {}, {.spec = s, .expires_at = end});
  publish(with, name, made);
  return made;
}

filter_identity filter_directory::draft(const spec& s) const {
  const image::filter_id id = image::random_filter_id();
  return {{prefix_, id}, s, id};
}

void filter_directory::require_first_server(session& with, std::string_view name) const {
  if (servers_ < 2) return;
  const auto answers = with.exchange_with_all(encode({"HEXISTS", filter_keys::index(prefix_), name}), true);
  for (std::size_t i = 1; i < answers.size(); ++i)
    if (answers[i] && answers[i]->back().integer() == 1)
      throw parameter_error(
          "server " + std::to_string(i + 1) + " of the URL has the name '" + std::string(name) +
          "': the filter was made with that server named first; name the servers in the same order");
}

void filter_directory::prepare(session& with, const filter_identity& made,
                               std::span<const partition_state> states, filter_header how) const {
  std::vector<request> requests;
  for (std::uint32_t p = 0; p < made.spec.partitions; ++p) {
    const std::string key = made.keys.state(p);
    const std::string begin = to_text(journal_position{});
    const partition_state state = states.empty() ? partition_state{} : states[p];
    requests.push_back({{key, p},
                        encode({"HSET", key, "begin", begin, "end", begin, "manifest",
                                encode_manifest(made, p, state), "counts", encode_counts(state)}) +
                            encode({"PEXPIRE", key, unseen_life_ms}),
                        2,
                        true});
    // They may have been on their way for long.
    for (const listed_segment& s : segments_of(p, state.slices)) {
      const std::string segment = made.keys.segment(s.id);
      requests.push_back({{segment, p}, encode({"PEXPIRE", segment, unseen_life_ms}), 1, true});
    }
  }
  for (const answer& a : send_all(with, requests))
    if (a->size() == 1 && a->front().integer() != 1)
      throw storage_error("segments of the filter have expired before it was whole; begin again", 0,
                          made.keys.header());
  how.servers = servers_;
  // What has a header is whole: so that goes first.
  (void)send_all(with, {{begin_filter_header(made, how, unseen_header_life_ms)}});
}

void filter_directory::publish(session& with, std::string_view name, const filter_identity& made) const {
  make_way(with, name);
  // Its keys have a time limit. To remove them now might remove a filter: by now it may have been given
  // another name.
  if (!names_.take(with, name, made.id)) throw filter_exists(name);
  give_limits(with, made);
}

/// The one that it was to succeed goes first: what is forgotten must not be asked.
void filter_directory::reset(session& with, std::string_view name) const {
  const filter_identity f = open(with, name, true);
  std::vector<std::string> jobs;
  for (const auto& [job, kept] : job_list(std::string(name), f).all(with)) jobs.push_back(job);
  require_no_jobs(name, jobs, "be reset");
  if (const auto h = read_filter_header(with, f); h && h->after) {
    (void)forget_before(with, f, *h->after, random_word());
    finish_removals(with);
  }
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) empty_partition(with, f, p);
}

filter_identity filter_directory::open(session& with, std::string_view name, bool to_write) const {
  for (int i = 0; i < most_attempts; ++i) {
    const auto id = names_.find(with, name);
    if (!id) throw no_such_filter(name);
    filter_identity f{{prefix_, *id}, {}, *id};
    const auto h = read_filter_header(with, f);
    if (!h) throw damaged_key(f.keys.header(), "is missing");
    if (h->is_over()) throw filter_has_ended(name);
    if (servers_ > 0 && h->servers != servers_)
      throw parameter_error("the filter '" + std::string(name) + "' was made on " +
                            std::to_string(h->servers) + " servers, and the URL names " +
                            std::to_string(servers_) + "; name all of them, in the same order");
    f.spec = h->spec;
    if (!to_write) return f;
    if (!h->has_limits) give_limits(with, f);
    if (h->after) (void)asked_before(with, f, sealing::yes);
    if (!h->next || put_in_place(with, f, *h->next) == placing::unmade) return f;
  }
  throw changes_too_fast(name);
}

void filter_directory::drop(session& with, std::string_view name) const {
  finish_removals(with);
  for (int i = 0; i < most_attempts; ++i) {
    const auto id = find(with, name);
    if (!id) throw no_such_filter(name);
    if (!names_.forget(with, name, *id)) continue;  // it was rebuilt or renamed just now
    return finish_removals(with);
  }
  throw changes_too_fast(name);
}

void filter_directory::remove_ended(session& with) const {
  for (const auto& [name, id] : live_and_ended(with).second) remove(with, name, id);
  finish_removals(with);
}

void filter_directory::make_way(session& with, std::string_view name) const {
  const auto id = names_.find(with, name);
  if (id && has_ended(with, *id)) remove(with, name, *id);
}

/// The name first: from then on nobody finds the filter, and whoever has it open is told so by its next
/// batch.
void filter_directory::remove(session& with, std::string_view name, const image::filter_id& id) const {
  (void)names_.forget(with, name, id);
  finish_removals(with);
}

/// Whoever asks one that was kept may be removed itself, and then there is one more to remove.
void filter_directory::finish_removals(session& with) const {
  for (int i = 0; i < most_attempts; ++i) {
    const name_index::leftovers left = names_.left(with);
    bool is_done = left.being_removed.empty();
    for (const auto& [id, by] : left.kept) {
      if (asks_before(with, {prefix_, by}) == id) continue;
      names_.release(with, id);
      is_done = false;
    }
    for (const image::filter_id& id : left.being_removed) {
      remove_keys(with, id);
      names_.note_removed(with, id);
    }
    if (is_done) return;
  }
}

/// Neither a name leads to it nor does another filter ask it.
bool filter_directory::is_unknown(session& with, const image::filter_id& id) const {
  return !names_.leads_to(with, id) &&
         std::ranges::none_of(names_.left(with).kept, [&](const auto& entry) { return entry.first == id; });
}

/// The header last, and by itself: without it nobody knows what the filter consists of.
void filter_directory::remove_keys(session& with, const image::filter_id& id) const {
  const filter_keys keys(prefix_, id);
  const std::string header = keys.header();
  const reply fields = ask_about(with, {header, 0}, {"HMGET", header, "spec", "next"});
  if (fields[0].is_nil()) return;
  filter_identity f{keys, {}, id};
  try {
    f.spec = image::decode_spec(std::as_bytes(std::span(fields[0].text())));
  } catch (const error&) {
    return;  // nobody can say what it consisted of
  }
  job_list({}, f).end_all(with);
  // Whoever began to rebuild it died before its successor could be found.
  if (const auto by = successor_in(header, fields[1]); by && is_unknown(with, *by)) remove_keys(with, *by);
  // Sealed first: then nobody makes another string.
  (void)seal(with, f, id);
  std::vector<request> requests;
  const auto unlink = [&](const std::string& key, std::uint32_t partition) {
    requests.push_back({{key, partition}, encode({"UNLINK", key}), 1, true});
  };
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    stored_checkpoint there;
    try {
      there = read_checkpoint(with, f, p);
    } catch (const backend_error&) {
      throw;
    } catch (const error&) {  // gone, or damaged
    }
    for (const std::string& key : strings_of(f, p, there)) unlink(key, p);
    unlink(keys.state(p), p);
  }
  unlink(job_keys::list(f.keys), 0);
  (void)send_all(with, requests);
  requests.clear();
  unlink(header, 0);
  (void)send_all(with, requests);
}

void filter_directory::rename(session& with, std::string_view from, std::string_view to, bool replace) const {
  for (int i = 0; i < most_attempts; ++i) {
    const auto id = find(with, from);
    if (!id) throw no_such_filter(from);
    make_way(with, to);
    const auto there = names_.find(with, to);
    if (there && !replace) throw filter_exists(to);
    if (from == to) return;
    if (names_.move(with, from, to, *id, there) != name_index::moved::done) continue;  // look again
    if (there) finish_removals(with);
    return;
  }
  throw changes_too_fast(from);
}

}  // namespace everseen::redis
