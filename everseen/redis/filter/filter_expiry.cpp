#include "everseen/redis/filter/filter_expiry.hpp"

#include <utility>

#include "everseen/core/base/names.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen::redis {

namespace {

/// If other clients change the expiry time this often, something is broken.
constexpr int most_expiry_attempts = 100;

/// A copy of a call may arrive late, after the expiry time was changed again. So a call changes only the
/// value that its client has read, which the word of the last change identifies.
/// KEYS header, list of jobs    ARGV id, word of the last change, word of this one, the new time (empty:
/// never)
/// Returns `K` done, by this call or an earlier copy of it; `S` it was changed meanwhile; `E` the filter has
/// expired; `R` it is being rebuilt; `J` it has jobs; `M` there is no such header.
const script& change_expiry() {
  static const script s = make_script(R"(
local call, header = redis.call, KEYS[1]
local at = call('HMGET', header, 'id', 'expires_at', 'expiry_word', 'after', 'next')
if at[1] ~= ARGV[1] then return 'M' end
if at[3] == ARGV[3] then return 'K' end
local time = call('TIME')
if at[2] and tonumber(at[2]) <= time[1] * 1000 + math.floor(time[2] / 1000) then return 'E' end
if at[4] or at[5] then return 'R' end
if (at[3] or '') ~= ARGV[2] then return 'S' end
if call('HLEN', KEYS[2]) > 0 then return 'J' end
call('HSET', header, 'expiry_word', ARGV[3])
if ARGV[4] == '' then call('HDEL', header, 'expires_at') else call('HSET', header, 'expires_at', ARGV[4]) end
return 'K'
)");
  return s;
}

/// KEYS header    ARGV id, the time (empty: never), id of the one before    Returns 1; 0 there is no such
/// header. If it no longer asks the one before, it may have got an expiry time of its own since.
const script& take_expiry() {
  static const script s = make_script(R"(
local at = redis.call('HMGET', KEYS[1], 'id', 'after')
if at[1] ~= ARGV[1] then return 0 end
if at[2] ~= ARGV[3] then return 1 end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], 'expires_at') else redis.call('HSET', KEYS[1], 'expires_at', ARGV[2]) end
return 1
)");
  return s;
}

/// Empty: never.
std::string end_text(std::optional<event_time> end) {
  return end ? to_text(*end) : std::string();
}

parameter_error is_being_rebuilt(const std::string& name) {
  return parameter_error(
      quoted_name(name) +
      " is being rebuilt, and its expiry time cannot be changed; finish the rebuild, or begin it again");
}

}  // namespace

void expire_at(server_connections& connections, const std::string& name, const filter_identity& f,
               filter_header known, std::optional<event_time> when) {
  const std::string header = f.keys.header();
  for (int i = 0; i < most_expiry_attempts; ++i) {
    script_call call{&change_expiry(), {header, 0}, {header, job_keys::list(f.keys)}};
    call.arguments = {bytes_of(f.id), known.expiry_word, random_name(), end_text(when)};
    const reply outcome = run_script(connections, std::move(call));
    switch (outcome.text().front()) {
      case 'K':
        return;
      case 'E':
        throw filter_has_expired(name);
      case 'R':
        throw is_being_rebuilt(name);
      case 'J':
        require_no_jobs(name, job_list(name, f).names(connections), "get another expiry time");
        break;  // the last one has ended since
      case 'S':
        break;
      default:
        throw filter_is_gone(header);
    }
    auto h = read_filter_header(connections, f);
    if (!h) throw filter_is_gone(header);
    known = *std::move(h);
  }
  throw storage_error("other clients change the expiry time of the filter faster than it can be set", 0,
                      header);
}

bool copy_expiry(server_connections& connections, const filter_identity& successor,
                 const image::filter_id& before, std::optional<event_time> end) {
  const std::string key = successor.keys.header();
  script_call call{
      &take_expiry(), {key, 0}, {key}, {bytes_of(successor.id), end_text(end), bytes_of(before)}};
  return run_script(connections, std::move(call)).integer() == 1;
}

}  // namespace everseen::redis
