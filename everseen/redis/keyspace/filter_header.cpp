#include "everseen/redis/keyspace/filter_header.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

/// KEYS header    ARGV its time limit in ms, then fields and values    A header without a limit is in use:
/// this is a delayed copy of the call.
const script& begin_header() {
  static const script s = make_script(R"(
local call, header = redis.call, KEYS[1]
if call('PTTL', header) == -1 then return 0 end
call('HDEL', header, 'expires_at')
call('HSET', header, unpack(ARGV, 2))
call('PEXPIRE', header, ARGV[1])
return 1
)");
  return s;
}

/// KEYS header, list of jobs    ARGV id, that of the successor    Returns `K`; `N` it has another; `J` it has
/// jobs; `M` there is no such header.
const script& put_next() {
  static const script s = make_remembered_script(R"(
local at = redis.call('HMGET', KEYS[1], 'id', 'next')
if at[1] ~= ARGV[1] then return 'M' end
if at[2] == ARGV[2] then return 'K' end
if at[2] then return 'N' end
if redis.call('HLEN', KEYS[2]) > 0 then return 'J' end
redis.call('HSET', KEYS[1], 'next', ARGV[2])
return 'K'
)");
  return s;
}

/// KEYS header    ARGV id, that of the successor
const script& take_next_away() {
  static const script s = make_script(R"(
local at = redis.call('HMGET', KEYS[1], 'id', 'next')
if at[1] == ARGV[1] and at[2] == ARGV[2] then redis.call('HDEL', KEYS[1], 'next') end
return 'K'
)");
  return s;
}

/// KEYS header    ARGV id, id of the one before, a random word of the caller    Returns 1 done, by this call
/// or an earlier copy of it; 0 it has another or none.
const script& drop_before() {
  static const script s = make_script(R"(
local at = redis.call('HMGET', KEYS[1], 'id', 'after', 'alone_by', 'next')
if at[1] ~= ARGV[1] then return 0 end
if at[3] ~= ARGV[3] and (at[4] or at[2] ~= ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'alone_by', ARGV[3])
redis.call('HDEL', KEYS[1], 'after')
return 1
)");
  return s;
}

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string id_of(const filter_identity& f) {
  return bytes_of(f.id);
}

std::optional<event_time> expiry_in(const std::string& key, const reply& field) {
  if (field.is_nil()) return std::nullopt;
  const auto ms = read_number<std::int64_t>(field.text());
  if (!ms) throw damaged_key(key, "has no valid end");
  return event_time(std::chrono::milliseconds(*ms));
}

/// @return 0: the field is empty
std::uint64_t number_in(const reply& field) {
  return read_number(field.text()).value_or(0);
}

/// Its spec, or the record of another program's filter.
void read_kind(filter_header& h, const std::string& key, const reply& fields) {
  try {
    if (fields[8].is_nil()) {
      h.spec = image::decode_spec(std::as_bytes(std::span(fields[1].text())));
    } else {
      h.attached = {std::string(fields[8].text()), std::string(fields[9].text()),
                    std::string(fields[10].text())};
      h.instances = fields[11].text();
    }
  } catch (const error& e) {
    throw damaged_key(key, std::string("is damaged (") + e.what() + ")");
  }
}

}  // namespace

event_time time_in(const reply& told) {
  const auto seconds = read_number<std::int64_t>(told[0].text());
  const auto microseconds = read_number<std::int64_t>(told[1].text());
  if (!seconds || !microseconds) throw backend_error("the Redis server does not return its time");
  return event_time(std::chrono::milliseconds(*seconds * 1000 + *microseconds / 1000));
}

event_time server_time(server_connections& connections, const std::string& key) {
  return time_in(ask_about(connections, {key, 0}, {"TIME"}));
}

std::size_t servers_of(server_connections& connections, const filter_keys& f) {
  try {
    return number_in(ask_about(connections, {f.header(), 0}, {"HGET", f.header(), "servers"}));
  } catch (const format_error&) {
    return 0;
  }
}

std::optional<filter_header> read_filter_header(server_connections& connections, const filter_identity& f) {
  const std::string key = f.keys.header();
  const request asked{{key, 0},
                      encode({"HMGET", key, "id", "spec", "expires_at", "expiry_word", "servers", "after",
                              "origin", "next", "attached", "key", "cursor", "instances"}) +
                          encode({"PTTL", key}) + encode({"TIME"}),
                      3,
                      true};
  const answer a = std::move(connections.exchange(std::span(&asked, 1)).front());
  const event_time current_time = time_in(expect_reply(a, key));
  const reply& fields = a->front();
  if (fields.is_error("WRONGTYPE")) throw damaged_key(key, "has another type");
  if (fields.is_error()) throw backend_error(refused_command(key, fields.text()));
  if (fields[0].is_nil() && fields[1].is_nil() && fields[8].is_nil()) return std::nullopt;
  if (fields[0].text() != id_of(f)) throw damaged_key(key, "belongs to another filter");
  filter_header h{.spec = {}, .expires_at = expiry_in(key, fields[2]), .read_at = current_time};
  h.servers = number_in(fields[4]);
  if (h.servers == 0) throw damaged_key(key, "does not say how many servers the filter has");
  h.after = id_in_field(fields[5], key);
  if (!h.after && !fields[5].is_nil()) throw damaged_key(key, "does not say which filter it asks first");
  h.origin = id_in_field(fields[6], key).value_or(f.id);
  h.next = id_in_field(fields[7], key);
  h.expiry_word = fields[3].text();
  h.is_permanent = (*a)[1].integer() < 0;
  read_kind(h, key, fields);
  return h;
}

std::vector<bool> have_expired(server_connections& connections, std::span<const filter_keys> filters) {
  std::vector<request> requests;
  for (const filter_keys& f : filters)
    requests.push_back(
        {{f.header(), 0}, encode({"HGET", f.header(), "expires_at"}) + encode({"TIME"}), 2, true});
  const std::vector<answer> answers = connections.exchange(requests);
  std::vector<bool> ended;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const event_time current_time = time_in(expect_reply(answers[i], requests[i].destination.key));
    const auto ms = read_number<std::int64_t>(answers[i]->front().text());
    ended.push_back(ms && event_time(std::chrono::milliseconds(*ms)) <= current_time);
  }
  return ended;
}

/// Without scripts, an attached filter can still get a name.
void begin_filter_header(server_connections& connections, const filter_identity& f, const filter_header& h) {
  const std::string header = f.keys.header();
  std::vector<std::string> words = {"id", id_of(f), "servers", std::to_string(h.servers)};
  const auto put = [&](std::string_view field, std::string value) {
    words.emplace_back(field);
    words.push_back(std::move(value));
  };
  if (h.attached) {
    put("attached", h.attached->record);
    put("key", h.attached->key);
    if (!h.instances.empty()) put("instances", h.instances);
    if (!h.attached->cursor.empty()) put("cursor", h.attached->cursor);
  } else {
    put("spec", std::string(text_of(image::encode_spec(f.spec))));
    put("judge", std::string(to_string(f.spec.judge)));
  }
  if (h.expires_at) put("expires_at", to_text(*h.expires_at));
  if (h.after) put("after", bytes_of(*h.after));
  if (h.after) put("origin", bytes_of(h.origin));
  if (!h.attached) {
    words.insert(words.begin(), std::string(unseen_header_life_ms));
    script_call call{&begin_header(), {header, 0}, {header}, std::move(words)};
    call.on_replicas = true;  // before a name leads to it
    (void)run_script(connections, std::move(call));
    return;
  }
  words.insert(words.begin(), {"HSET", header});
  (void)exchange_all(connections, {{{header, 0},
                                    encode(std::vector<std::string_view>(words.begin(), words.end())) +
                                        encode({"PEXPIRE", header, unseen_header_life_ms}),
                                    2,
                                    true}});
}

succession decide_succession(server_connections& connections, const filter_identity& old,
                             const image::filter_id& id) {
  const std::string key = old.keys.header();
  script_call call{&put_next(), {key, 0}, {key, job_keys::list(old.keys)}, {id_of(old), bytes_of(id)}};
  call.on_replicas = true;
  const reply outcome = run_script(connections, remembered(connections, std::move(call)));
  switch (outcome.text().front()) {
    case 'K':
      return succession::decided;
    case 'N':
      return succession::taken;
    case 'J':
      return succession::has_jobs;
    default:
      return succession::gone;
  }
}

void forget_successor(server_connections& connections, const filter_identity& old,
                      const image::filter_id& id) {
  const std::string key = old.keys.header();
  (void)run_script(connections, {&take_next_away(), {key, 0}, {key}, {id_of(old), bytes_of(id)}});
}

bool forget_before(server_connections& connections, const filter_identity& f, const image::filter_id& before,
                   const std::string& word) {
  const std::string key = f.keys.header();
  script_call call{&drop_before(), {key, 0}, {key}, {id_of(f), bytes_of(before), word}};
  call.on_replicas = true;
  return run_script(connections, std::move(call)).integer() == 1;
}

storage_error filter_was_rebuilt(const std::string& key) {
  return {"the filter was rebuilt meanwhile; open it again", 0, key};
}

storage_error filter_is_sealed(const filter_identity& f, const image::filter_id& successor,
                               const std::string& key) {
  if (successor != f.id) return filter_was_rebuilt(key);
  return {"the filter that was opened is gone: it was dropped, replaced or deleted", 0, key};
}

storage_error filter_is_gone(const std::string& key) {
  return {
      "the filter that was opened is gone: it was dropped, replaced or deleted, or its server lost its data "
      "(" +
          key + " is not there)",
      0, key};
}

namespace {

constexpr std::chrono::seconds known_within{1};

}  // namespace

/// A filter that has expired by an earlier read may have got a later expiry time since. No lock is held while
/// a server is asked, so several threads may ask concurrently.
void filter_life::require(server_connections& connections) {
  const auto current = ours::now();
  const bool has_expired = current.time_since_epoch().count() >= expires_at_;
  if (!has_expired && current.time_since_epoch().count() < look_again_at_) return;
  look(connections, has_expired);
}

/// A look that finds no living filter is repeated by the next batch: only one that finds it says anything
/// about the second after it.
/// @param has_expired  as known before: then the header may have been removed for that
void filter_life::look(server_connections& connections, bool has_expired) {
  const auto asked = ours::now();
  const auto h = read_filter_header(connections, filter_);
  const std::string key = filter_.keys.header();
  if (!h || h->has_expired()) look_again_at_ = never_looked;
  if (!h && !has_expired) throw filter_is_gone(key);
  if (!h || h->has_expired()) throw storage_error("the filter has expired; create another one", 0, key);
  if (h->expires_at) {
    // An expiry time centuries away does not fit this clock.
    const auto left =
        std::min<std::chrono::milliseconds>(*h->expires_at - h->read_at, std::chrono::hours(24));
    expires_at_ = (asked + left).time_since_epoch().count();
  } else {
    expires_at_ = ours::duration::max().count();
  }
  look_again_at_ = (asked + known_within).time_since_epoch().count();
}

}  // namespace everseen::redis
