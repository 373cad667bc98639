#include "everseen/redis/redis_store.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "everseen/core/base/names.hpp"
#include "everseen/redis/admin/filter_rebuild.hpp"
#include "everseen/redis/admin/planning.hpp"
#include "everseen/redis/filter/filter_expiry.hpp"
#include "everseen/redis/filter/followed_filter.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/served/packed_keys.hpp"
#include "everseen/redis/server_check.hpp"
#include "everseen/redis/wire/refusal.hpp"
#include "everseen/store/link/linked_filter.hpp"

namespace everseen::redis {

namespace {

/// A client that opens many filters looks for expired ones this often.
constexpr std::chrono::minutes between_sweeps{1};

using purpose = fleet_servers::purpose;

/// Where nobody has decided: servers that can.
judge_kind judge_for(server_connections& connections) {
  return have_module(connections) ? judge_kind::server : judge_kind::client;
}

/// A filter from elsewhere, such as a file, does not say who can judge it here.
spec judged_here(server_connections& connections, spec s) {
  if (s.judge == judge_kind::server) s.judge = judge_for(connections);
  return s;
}

/// The clock of the server that has a key, extrapolated by this machine's clock, so that no batch needs to
/// ask for the time.
time_source clock_of(server_connections& connections, const std::string& key) {
  using ours = std::chrono::steady_clock;
  return [then = server_time(connections, key), since = ours::now()] {
    return then + std::chrono::floor<std::chrono::milliseconds>(ours::now() - since);
  };
}

}  // namespace

redis_store::redis_store(redis_url url, attached_opener open_attached)
    : servers_(std::move(url)),
      open_attached_(std::move(open_attached)),
      directory_(servers_.url().prefix, servers_.count()) {}

spec redis_store::plan(const spec_request& request) const {
  spec_request decided = request;
  if (!decided.judge) decided.judge = judge_for(*servers_.named()->take());
  spec s = plan_for_redis(servers_.url(), decided);
  if (s.judge == judge_kind::client) require_that_clients_hold(servers_.url(), s);
  return s;
}

std::shared_ptr<stored_filter> redis_store::create(std::string_view name, const spec& s,
                                                   std::optional<std::chrono::milliseconds> life) {
  validate(s);
  validate_filter_name(name);
  if (s.judge == judge_kind::client) require_that_clients_hold(servers_.url(), s);
  const auto pool = servers_.connected(purpose::found);
  const connection_pool::lease connections = pool->take();
  if (s.judge == judge_kind::server) require_module(*connections);
  const filter_identity made = directory_.create(*connections, name, s, life);
  sweep(*connections);
  return std::make_shared<followed_filter>(pool, std::string(name), made, access::write);
}

filter_facts redis_store::facts(std::string_view name) const {
  const filter_header h = directory_.look_up(*servers_.connected()->take(), name, false).header;
  return {h.expires_at, filter_keys::to_text(h.origin)};
}

void redis_store::expire_at(std::string_view name, std::optional<event_time> when) {
  const auto pool = servers_.connected();
  const connection_pool::lease connections = pool->take();
  const found_filter f = directory_.look_up(*connections, name, true);
  require_own(name, f.header, "its program decides when it ends");
  redis::expire_at(*connections, std::string(name), f.identity, f.header, when);
}

std::vector<std::string> redis_store::jobs(std::string_view name) const {
  const auto pool = servers_.connected();
  const connection_pool::lease connections = pool->take();
  const filter_identity f = directory_.open(*connections, name, false);
  return job_list(std::string(name), f).names(*connections);
}

void redis_store::end_job(std::string_view name, std::string_view job) {
  const auto pool = servers_.connected();
  const connection_pool::lease connections = pool->take();
  const filter_identity f = directory_.open(*connections, name, true);
  job_list(std::string(name), f).end(*connections, job);
}

void redis_store::link(std::string_view older, std::string_view newer,
                       std::optional<std::chrono::milliseconds> life) {
  directory_.link(*servers_.connected()->take(), older, newer, life);
}

void redis_store::unlink(std::string_view newer) {
  directory_.unlink(*servers_.connected()->take(), newer);
}

std::shared_ptr<stored_filter> redis_store::open(std::string_view name, access mode) {
  const auto pool = servers_.connected();
  const connection_pool::lease connections = pool->take();
  const auto older = asked_first(directory_.links().all(*connections), name);
  auto opened = older ? open_linked(*connections, name, *older, mode) : open_alone(pool, name, mode);
  if (mode == access::write) sweep(*connections);
  return opened;
}

/// Who opens or creates a filter gets it even if others cannot be removed: the next client tries again.
void redis_store::sweep(server_connections& connections) {
  {
    const std::scoped_lock alone(lock_);
    const auto current_time = std::chrono::steady_clock::now();
    if (swept_ && current_time - *swept_ < between_sweeps) return;
    swept_ = current_time;
  }
  try {
    directory_.remove_expired(connections);
  } catch (const error&) {
    // A server does not answer, or a key is damaged or forbidden.
  }
}

std::shared_ptr<stored_filter> redis_store::open_alone(const std::shared_ptr<connection_pool>& pool,
                                                       std::string_view name, access mode) {
  const found_filter found = directory_.look_up(*pool->take(), name, mode == access::write);
  if (found.header.attached) {
    if (!open_attached_)
      throw parameter_error(quoted_name(name) + " is attached, and this program reads no bits of others");
    return open_attached_(pool, found, servers_.fleet(), mode);
  }
  return std::make_shared<followed_filter>(pool, std::string(name), found.identity, mode);
}

namespace {

/// What the older filter of a link answers decides whether a key is added.
std::shared_ptr<connection_pool> without_staleness(const std::shared_ptr<connection_pool>& pool) {
  redis_url url = pool->url();
  if (url.staleness.count() == 0) return pool;
  url.staleness = {};
  return std::make_shared<connection_pool>(std::move(url), *pool);
}

}  // namespace

std::shared_ptr<stored_filter> redis_store::open_linked(server_connections& connections,
                                                        std::string_view name, const predecessor& older,
                                                        access mode) {
  time_source clock;
  if (older.until) {
    clock = clock_of(connections, directory_.links().key());
    if (older.is_over(clock())) return open_alone(servers_.connected(), name, mode);
  }
  const auto pool = servers_.connected();
  return everseen::open_linked(
      name, older, std::move(clock),
      [&] {
        return open_alone(mode == access::write ? without_staleness(pool) : pool, older.name, access::read);
      },
      [&] { return open_alone(pool, name, mode); });
}

bool redis_store::exists(std::string_view name) const {
  return directory_.has(*servers_.connected()->take(), name);
}

std::vector<std::string> redis_store::list() const {
  return directory_.names(*servers_.connected()->take());
}

void redis_store::drop(std::string_view name) {
  validate_filter_name(name);
  directory_.drop(*servers_.connected()->take(), name);
}

void redis_store::rename(std::string_view from, std::string_view new_name, namesake there) {
  validate_filter_name(new_name);
  directory_.rename(*servers_.connected()->take(), from, new_name, there == namesake::replace);
}

void redis_store::remove_expired() {
  directory_.remove_expired(*servers_.connected()->take());
}

void redis_store::reset(std::string_view name) {
  directory_.reset(*servers_.connected()->take(), name);
}

std::unique_ptr<store::rebuild> redis_store::begin_rebuild(std::string_view name, const spec& s,
                                                           std::span<const partition_state> base) {
  const auto pool = servers_.connected();
  return std::make_unique<filter_rebuild>(pool, directory_, name, judged_here(*pool->take(), s), base);
}

std::unique_ptr<store::restore> redis_store::begin_restore(std::string_view name, const spec& s) {
  const auto pool = servers_.connected(purpose::found);
  const spec here = judged_here(*pool->take(), s);
  if (here.judge == judge_kind::client) require_that_clients_hold(servers_.url(), here);
  return std::make_unique<filter_restore>(pool, directory_, name, here);
}

namespace {

/// A server and its answers to INFO and CONFIG GET, as one text.
struct server_info {
  std::string who;
  std::string text;
};

/// Asks all servers the same.    @param ask  INFO and CONFIG GET; what a server forbids is left out of its
/// text
/// @throws backend_error  a server does not answer
std::vector<server_info> ask_servers(connection_pool& pool, const std::string& ask) {
  const connection_pool::lease connections = pool.take();
  const auto answers = connections->exchange_with_all(ask);
  const redis_url& url = pool.url();
  std::vector<server_info> all;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) throw backend_error(answers[i].error().message);
    std::string info;
    for (const reply& answer : *answers[i]) {
      if (answer.is_error()) continue;  // forbidden
      if (answer.size() == 2)
        info += std::string(answer[0].text()) + ':' + std::string(answer[1].text()) + "\r\n";
      else
        info += std::string(answer.text()) + "\r\n";
    }
    std::string who =
        url.shape == redis_url::topology::cluster
            ? "port " + std::string(info_field(info, "tcp_port").value_or("?")) + " of the cluster"
            : to_string(url.endpoints.at(i));
    all.push_back({std::move(who), std::move(info)});
  }
  return all;
}

}  // namespace

store_traits redis_store::traits() const {
  store_traits mine;
  mine.is_remote = mine.batches_wait = true;
  mine.longest_segment_bytes = partition_keys::max_segment_bytes;
  return mine;
}

std::vector<std::string> redis_store::warnings(concern about) const {
  std::string ask = encode({"INFO", "server"}) + encode({"INFO", "memory"}) +
                    encode({"INFO", "replication"}) + encode({"INFO", "persistence"});
  for (const std::string_view setting : {"save", "appendonly", "appendfsync", "aof-load-truncated"})
    ask += encode({"CONFIG", "GET", setting});
  std::vector<std::string> all;
  for (const server_info& each : ask_servers(*servers_.named(), ask))
    std::ranges::move(about == concern::jobs ? warnings_about_jobs(each.who, each.text)
                                             : warnings_about(each.who, each.text),
                      std::back_inserter(all));
  return all;
}

std::vector<server_report> redis_store::reports() const {
  std::vector<server_report> all;
  for (server_info& each :
       ask_servers(*servers_.named(), encode({"INFO", "server"}) + encode({"INFO", "clients"}) +
                                          encode({"INFO", "memory"}) + encode({"INFO", "stats"})))
    if (auto report = report_of(std::move(each.who), each.text)) all.push_back(*std::move(report));
  return all;
}

}  // namespace everseen::redis
