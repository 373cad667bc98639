#include "everseen/redis/redis_store.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "everseen/redis/admin/mirrored_rebuild.hpp"
#include "everseen/redis/admin/mirrored_restore.hpp"
#include "everseen/redis/ending.hpp"
#include "everseen/redis/filter/followed_filter.hpp"
#include "everseen/redis/gear.hpp"
#include "everseen/redis/header.hpp"
#include "everseen/redis/jobs.hpp"
#include "everseen/redis/linking.hpp"
#include "everseen/redis/planning.hpp"
#include "everseen/redis/redis_filter.hpp"
#include "everseen/redis/redis_rebuild.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/renaming.hpp"
#include "everseen/redis/server_check.hpp"
#include "everseen/redis/upkeep.hpp"
#include "everseen/store/linking.hpp"
#include "everseen/store/recovered_keys.hpp"

namespace everseen::redis {

namespace {

constexpr std::string_view draft_life_ms = "86400000";
/// So many requests are sent at a time, so that neither side has to keep them all.
constexpr std::size_t at_once = 256;

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// @throws backend_error  a request was not answered, or answered by an error; names its key
std::vector<answer> send_all(session& with, const std::vector<request>& requests) {
  std::vector<answer> all;
  for (std::size_t from = 0; from < requests.size(); from += at_once) {
    const auto some = std::span(requests).subspan(from, std::min(at_once, requests.size() - from));
    std::vector<answer> answers = with.exchange(some);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i]) throw backend_error(answers[i].error().message);
      for (const reply& r : *answers[i])
        if (r.is_error()) throw backend_error(refused_command(some[i].to.key, r.text()));
    }
    std::ranges::move(answers, std::back_inserter(all));
  }
  return all;
}

/// The clock of the server that has a key, from now on told by ours: a batch asks nobody for the time.
time_source clock_of(session& with, const std::string& key) {
  using ours = std::chrono::steady_clock;
  return [then = catalogue::server_time(with, key), since = ours::now()] {
    return then + std::chrono::floor<std::chrono::milliseconds>(ours::now() - since);
  };
}

/// What would throw bits away, or put others in their place, is not done to those of another program.
parameter_error attached_is_not_ours(std::string_view name, std::string_view what_to_do) {
  return parameter_error("'" + std::string(name) + "' is attached: its bits are another program's; " +
                         std::string(what_to_do));
}

}  // namespace

redis_store::redis_store(redis_url url)
    : pool_(std::make_shared<session_pool>(std::move(url))),
      catalogue_(pool_->url()),
      directory_(pool_->url().prefix,
                 pool_->url().shape == redis_url::topology::many ? pool_->url().endpoints.size() : 1) {}

spec redis_store::plan(const spec_request& request) const {
  const auto by_clients = [&] {
    spec_request asked = request;
    asked.judge = judge_kind::client;
    spec s = plan_for_clients(pool_->url(), asked);
    require_that_clients_hold(pool_->url(), s);
    return s;
  };
  if (request.judge == judge_kind::client) return by_clients();
  if (request.layout) return plan_for_redis(pool_->url(), request);
  const bool by_module = has_module();
  if (!request.judge && !by_module && !pool_->url().gear) return by_clients();
  return plan_for_redis(pool_->url(), request, by_module ? judged_by::module : judged_by::commands);
}

bool redis_store::has_module() const {
  const std::optional<gear_kind> forced = pool_->url().gear;
  return forced ? *forced == gear_kind::module : have_module(*pool_->take());
}

/// A filter that may take the name, as far as can be seen now.
remote_filter redis_store::new_filter(session& with, std::string_view name, const spec& s) const {
  validate(s);
  validate_filter_name(name);
  directory_.make_way(with, name);
  if (directory_.has(with, name)) throw filter_exists(name);
  finish_rename_from(with, catalogue_, name);
  catalogue_.require_free(with, name);
  return {.keys = catalogue_.keys_of(name),
          .spec = s,
          .id = image::random_filter_id(),
          .generation = random_generation()};
}

/// A filter that nobody can find yet. Its keys have a time limit until the header is there; without commit()
/// they go with this object.
class redis_store::draft {
 public:
  draft(const redis_store& in, session& with, remote_filter f)
      : in_(in), with_(with), filter_(std::move(f)) {}
  ~draft() {
    if (committed_) return;
    try {
      std::vector<request> requests;
      for (const route& key : made_) requests.push_back({key, encode({"UNLINK", key.key}), 1, true});
      send_all(with_, requests);
    } catch (const error&) {
      // They expire.
    }
  }
  draft(const draft&) = delete;
  draft& operator=(const draft&) = delete;

  [[nodiscard]] const remote_filter& filter() const noexcept { return filter_; }

  /// What makes the key or goes on with it.
  [[nodiscard]] request make(const route& key, std::string wire) {
    if (made_.empty() || made_.back().key != key.key) made_.push_back(key);
    return {key, std::move(wire) + encode({"PEXPIRE", key.key, draft_life_ms}), 2, true};
  }

  /// Takes the name, by one step: of many clients that make a filter of the same name exactly one succeeds.
  /// @throws name_taken
  void commit() {
    std::vector<request> requests;
    for (const route& key : made_)
      requests.push_back({key, lasting(key.key) + encode({"EXISTS", key.key}), 2, true});
    const std::vector<answer> answers = send_all(with_, requests);
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (answers[i]->back().integer() != 1) throw damaged_key(made_[i].key, "is missing");
    take_name();
    // After the header: where there is a sign and no header, it was lost.
    in_.catalogue_.put_up_signs(with_, filter_);
    (void)in_.catalogue_.list(with_, filter_);
  }

 private:
  /// All keys of a filter end together.
  [[nodiscard]] std::string lasting(const std::string& key) const {
    return filter_.ends_at ? encode({"PEXPIREAT", key, to_text(*filter_.ends_at)}) : encode({"PERSIST", key});
  }

  void take_name() {
    const auto encoded = image::encode_spec(filter_.spec);
    const std::string key = filter_.keys.header();
    const std::string generation = std::to_string(filter_.generation);
    std::vector<std::string> fields = {
        "spec", std::string(text_of(encoded)), "generation", generation, "ready", std::string(ready)};
    if (filter_.ends_at) fields.insert(fields.end(), {"ends_at", to_text(*filter_.ends_at)});
    std::ranges::move(in_.catalogue_.place_fields(), std::back_inserter(fields));
    const auto begun =
        begin_header(with_, {key, 0}, std::string(text_of(std::as_bytes(std::span(filter_.id)))), fields);
    committed_ = begun ? *begun : begun.error().may_have_run;
    if (!begun) throw backend_error(begun.error().message);
    if (!committed_) throw filter_exists(filter_.keys.name());
  }

  const redis_store& in_;
  session& with_;
  remote_filter filter_;
  std::vector<route> made_;
  bool committed_ = false;
};

std::shared_ptr<stored_filter> redis_store::create(std::string_view name, const spec& s) {
  const session_pool::lease with = pool_->take();
  if (s.judge == judge_kind::client) return make_for_clients(*with, name, s, {});
  return make(*with, new_filter(*with, name, s));
}

std::shared_ptr<stored_filter> redis_store::make_for_clients(
    session& with, std::string_view name, const spec& s,
    std::optional<std::chrono::milliseconds> life) const {
  validate(s);
  validate_filter_name(name);
  require_that_clients_hold(pool_->url(), s);
  catalogue_.require_free(with, name);
  return std::make_shared<followed_filter>(pool_, std::string(name), directory_.create(with, name, s, life),
                                           access::write);
}

std::shared_ptr<stored_filter> redis_store::create_expiring(std::string_view name, const spec& s,
                                                            std::chrono::milliseconds life) {
  const session_pool::lease with = pool_->take();
  if (s.judge == judge_kind::client) return make_for_clients(*with, name, s, life);
  remote_filter f = new_filter(*with, name, s);
  f.ends_at = end_after(catalogue::server_time(*with, f.keys.header()), life);
  return make(*with, std::move(f));
}

std::shared_ptr<stored_filter> redis_store::make(session& with, remote_filter new_one) const {
  const gear_kind gear = choose_gear(with, pool_->url());
  draft made(*this, with, std::move(new_one));
  const remote_filter& f = made.filter();
  const std::vector<std::string> fields = first_state(f);
  std::vector<request> requests;
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) {
    const std::string key = f.keys.state(f.generation, p);
    std::vector<std::string_view> words = {"HSET", key};
    words.insert(words.end(), fields.begin(), fields.end());
    requests.push_back(made.make({key, p}, encode(words)));
  }
  send_all(with, requests);
  made.commit();
  return std::make_shared<redis_filter>(pool_, f, gear, access::write);
}

std::vector<bitmap> redis_store::attach(std::string_view name, const attachment& a, missing_key missing) {
  return redis::attach(*pool_, catalogue_, name, a, missing);
}

void redis_store::link(std::string_view older, std::string_view newer,
                       std::optional<std::chrono::milliseconds> life) {
  redis::link(*pool_->take(), catalogue_, older, newer, life);
}

void redis_store::unlink(std::string_view newer) {
  redis::unlink(*pool_->take(), catalogue_, newer);
}

std::shared_ptr<stored_filter> redis_store::open(std::string_view name, access how) {
  const session_pool::lease with = pool_->take();
  if (directory_.lists(*with, name)) {
    const link_hash links = links_of(catalogue_);
    const auto older = links.asked_first(*with, directory_.open(*with, name, false).id);
    return older ? open_linked(*with, name, *older, links.key(), how) : open_alone(*with, name, how);
  }
  directory_.require_first_server(*with, name);
  const header h = catalogue_.read_header(*with, name);
  if (h.attached) require_gear(pool_->url(), *h.attached);
  return h.linked ? open_linked(*with, name, *h.linked, h.live.keys.header(), how)
                  : open_alone(*with, h, how);
}

std::shared_ptr<stored_filter> redis_store::open_alone(session& with, std::string_view name, access how) {
  if (directory_.lists(with, name))
    return std::make_shared<followed_filter>(pool_, std::string(name),
                                             directory_.open(with, name, how == access::write), how);
  return open_alone(with, catalogue_.read_header(with, name), how);
}

std::shared_ptr<stored_filter> redis_store::open_alone(session& with, header h, access how) {
  const std::string name = h.live.keys.name();
  if (h.attached) {
    // A string that is not there is empty, so nothing else would tell that a server has another's place, or
    // lost all that it had.
    if (h.attached->instances > 0) catalogue_.require_signs(with, name);
    if (how == access::write && !catalogue_.list(with, h.live)) throw no_such_filter(name);
    return open_attached(pool_, h, how);
  }
  // Whoever began may have died before the end.
  if (how == access::write) {
    finish_rename(with, catalogue_, h);
    finish_rebuild(with, catalogue_, h);
    finish_end(with, catalogue_, h);
  }
  const remote_filter f = h.live;
  if (how == access::write && !catalogue_.list(with, f)) throw no_such_filter(name);
  return std::make_shared<redis_filter>(pool_, f, choose_gear(with, pool_->url()), how);
}

std::shared_ptr<stored_filter> redis_store::open_linked(session& with, std::string_view name,
                                                        const predecessor& older, const std::string& clock,
                                                        access how) {
  time_source now;
  if (older.until) {
    now = clock_of(with, clock);
    if (older.is_over(now())) return open_alone(with, name, how);
  }
  return everseen::open_linked(
      name, older, std::move(now), [&] { return open_alone(with, older.name, access::read); },
      [&] { return open_alone(with, name, how); });
}

std::optional<attachment> redis_store::attachment_of(std::string_view name) const {
  return catalogue_.read_header(*pool_->take(), name).attached;
}

bool redis_store::exists(std::string_view name) const {
  const session_pool::lease with = pool_->take();
  return directory_.has(*with, name) || catalogue_.is_ready(*with, name);
}

std::vector<std::string> redis_store::list() const {
  const session_pool::lease with = pool_->take();
  std::vector<std::string> names = directory_.names(*with);
  for (std::string& name : catalogue_.names(*with)) {
    if (catalogue_.is_ready(*with, name))
      names.push_back(std::move(name));
    else if (std::string other = catalogue_.moved_to(*with, name); !other.empty())
      names.push_back(std::move(other));  // which may not be listed yet
    else if (catalogue_.is_lost(*with, name))
      names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// Steps in an order that lets another drop finish, should this process die on the way; and what is damaged
/// must go, too. A namesake that somebody makes meanwhile has another generation, and stays.
void redis_store::drop(std::string_view name) {
  const session_pool::lease with = pool_->take();
  validate_filter_name(name);
  if (const auto id = directory_.find(*with, name)) {
    require_unasked(*with, catalogue_, name);
    directory_.drop(*with, name);
    return links_of(catalogue_).forget(*with, name, *id);
  }
  finish_rename_from(*with, catalogue_, name);
  const std::string header = catalogue_.keys_of(name).header();
  const bool there = catalogue_.has_header(*with, name);
  const bool has_signs = catalogue_.require_order(*with, name);
  if (!there && !has_signs && catalogue_.look_up(*with, name) == catalogue::listing::none)
    throw no_such_filter(name);
  std::string generation;
  try {
    const reply fields = catalogue_.header_of(*with, name);
    generation = fields[2].text();
    if (there) {
      redis::header h = catalogue_.decode(name, fields);
      require_unlinked(*with, catalogue_, h);
      if (fields[3].text() == ready) finish_rename(*with, catalogue_, h);
      require_staying(*with, h);
      if (!hide_header(*with, header, generation))
        throw storage_error(
            "'" + std::string(name) + "' is being renamed by another process; look, and try again", 0,
            header);
      if (!h.attached) unlink_partitions(*with, h.live);
      if (h.has_jobs) unlink_jobs(*with, h.live);
      if (h.next) unlink_partitions(*with, *h.next);
    }
  } catch (const format_error&) {
    // Nobody can find its other keys any more.
  }
  catalogue_.unlist(*with, name);
  catalogue_.take_down_signs(*with, name);
  remove_header(*with, header, generation);
  catalogue_.list_again(*with, name);
}

void redis_store::rename(std::string_view from, std::string_view to, namesake there) {
  const session_pool::lease with = pool_->take();
  if (directory_.has(*with, from)) {
    validate_filter_name(to);
    if (catalogue_.is_ready(*with, to)) throw filter_exists(to);
    if (from != to)
      for (const std::string_view one : {from, to})
        if (directory_.has(*with, one)) require_alone(*with, catalogue_, one);
    return directory_.rename(*with, from, to, there == namesake::replace);
  }
  directory_.make_way(*with, to);
  if (directory_.has(*with, to)) throw filter_exists(to);
  redis::rename(*with, catalogue_, from, to, there);
}

void redis_store::remove_ended() {
  directory_.remove_ended(*pool_->take());
}

void redis_store::reset(std::string_view name) {
  const session_pool::lease with = pool_->take();
  if (directory_.has(*with, name)) return directory_.reset(*with, name);
  header h = catalogue_.read_header(*with, name);
  if (h.attached) throw attached_is_not_ours(name, "let that program empty it, or delete its key by hand");
  require_no_jobs(*with, h, "be reset");
  finish_rebuild(*with, catalogue_, h);
  if (h.next) give_up_rebuild(*with, h.live, *h.next);
  for (std::uint32_t p = 0; p < h.live.spec.partitions; ++p) empty_partition(*with, h.live, p);
}

std::unique_ptr<store::rebuild> redis_store::begin_rebuild(std::string_view name, const spec& s,
                                                           std::span<const partition_state> base) {
  const session_pool::lease with = pool_->take();
  if (directory_.has(*with, name))
    return std::make_unique<mirrored_rebuild>(pool_, directory_, name, s, base);
  if (catalogue_.read_header(*with, name).attached)
    throw attached_is_not_ours(name, "create a filter of everseen's own beside it, and fill that");
  auto begun = std::make_unique<redis_rebuild>(pool_, name, s);
  begun->begin(base);
  return begun;
}

std::optional<std::uint64_t> redis_store::longest_segment_bytes() const {
  return max_string_bytes;
}

namespace {

struct told_server {
  std::string who;
  std::string info;  ///< sections of INFO, and a line a setting
};

/// What all servers say of themselves.
std::vector<told_server> ask_servers(session_pool& pool) {
  const session_pool::lease with = pool.take();
  std::string ask = encode({"INFO", "server"}) + encode({"INFO", "memory"}) +
                    encode({"INFO", "replication"}) + encode({"INFO", "persistence"});
  for (const std::string_view setting : {"save", "appendonly", "appendfsync", "aof-load-truncated"})
    ask += encode({"CONFIG", "GET", setting});
  const auto answers = with->exchange_with_all(ask, true);
  const redis_url& url = pool.url();
  std::vector<told_server> all;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) throw backend_error(answers[i].error().message);
    told_server one;
    for (const reply& said : *answers[i]) {
      if (said.is_error()) continue;  // forbidden
      if (said.size() == 2)
        one.info += std::string(said[0].text()) + ':' + std::string(said[1].text()) + "\r\n";
      else
        one.info += std::string(said.text()) + "\r\n";
    }
    one.who = url.shape == redis_url::topology::cluster
                  ? "port " + std::string(info_field(one.info, "tcp_port").value_or("?")) + " of the cluster"
                  : to_string(url.endpoints.at(i));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::vector<std::string> redis_store::warnings() const {
  std::vector<std::string> all;
  for (const told_server& each : ask_servers(*pool_))
    std::ranges::move(doubts_about(each.who, each.info), std::back_inserter(all));
  return all;
}

std::vector<std::string> redis_store::job_warnings() const {
  std::vector<std::string> all;
  for (const told_server& each : ask_servers(*pool_))
    std::ranges::move(doubts_about_jobs(each.who, each.info), std::back_inserter(all));
  return all;
}

/// Segments gathered in memory, sent to the server one by one, and made visible together.
class redis_store::restoring final : public store::restore {
 public:
  restoring(const redis_store& into, std::string_view name, const spec& s)
      : into_(into),
        with_(into.pool_->take()),
        draft_(into_, *with_, into.new_filter(*with_, name, s)),
        states_(s.partitions) {}

  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) override {
    send_last();
    if (layer.shape.bytes > max_string_bytes)
      throw parameter_error(
          "a segment is longer than the 512 MiB of a Redis string; keep the filter in a file: store, or make "
          "one with more partitions of its keys");
    restore_layer(states_.at(id.partition), id, layer);
    last_id_ = id;
    last_.assign(layer.shape.bytes, std::byte{0});
    return last_;
  }

  void commit() override {
    send_last();
    std::vector<request> requests;
    for (std::uint32_t p = 0; p < states_.size(); ++p) make_state(requests, p);
    send_all(*with_, requests);
    draft_.commit();
  }

 private:
  static constexpr std::size_t page_bytes = std::size_t{1} << 20;

  /// The count of the segment at hand. The copy may have been taken beside a writer, so that it lags.
  void recover_count() {
    for (slice_state& slice : states_[last_id_.partition].slices)
      if (slice.index == last_id_.slice) {
        layer_state& layer = slice.layers[last_id_.layer];
        layer.keys = recovered_keys(layer.keys, layer.shape, last_);
      }
  }

  void send_last() {
    if (last_.empty()) return;
    recover_count();
    const remote_filter& f = draft_.filter();
    const std::string key = f.keys.segment(f.generation, last_id_);
    std::vector<request> requests;
    for (std::size_t at = 0; at < last_.size(); at += page_bytes) {
      const std::span<const std::byte> page =
          std::span(last_).subspan(at, std::min(page_bytes, last_.size() - at));
      requests.push_back(draft_.make({key, last_id_.partition},
                                     encode({"SETRANGE", key, std::to_string(at), text_of(page)})));
      if (requests.size() == 16) send_all(*with_, std::exchange(requests, {}));
    }
    send_all(*with_, requests);
    last_.clear();
  }

  void make_state(std::vector<request>& requests, std::uint32_t p) {
    const remote_filter& f = draft_.filter();
    const std::string key = f.keys.state(f.generation, p);
    const remote_partition state{p, 1, states_[p].slices};
    std::vector<std::string> words = {"HSET", key, "epoch", "1", "manifest", encode_state(f, state)};
    for (const slice_state& slice : state.slices)
      for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
        words.push_back(count_field({p, slice.index, layer}));
        words.push_back(std::to_string(slice.layers[layer].keys));
      }
    requests.push_back(
        draft_.make({key, p}, encode(std::vector<std::string_view>(words.begin(), words.end()))));
  }

  redis_store into_;  // a copy: who restores need not keep the store
  session_pool::lease with_;
  draft draft_;
  std::vector<partition_state> states_;
  segment_id last_id_;
  std::vector<std::byte> last_;
};

std::unique_ptr<store::restore> redis_store::begin_restore(std::string_view name, const spec& s) {
  if (s.judge == judge_kind::client) {
    catalogue_.require_free(*pool_->take(), name);
    return std::make_unique<mirrored_restore>(pool_, directory_, name, s);
  }
  return std::make_unique<restoring>(*this, name, s);
}

}  // namespace everseen::redis
