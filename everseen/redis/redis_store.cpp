#include "everseen/redis/redis_store.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <thread>
#include <utility>

#include "everseen/redis/backoff.hpp"
#include "everseen/redis/header.hpp"
#include "everseen/redis/planning.hpp"
#include "everseen/redis/redis_filter.hpp"
#include "everseen/store/recovered_keys.hpp"

namespace everseen::redis {

namespace {

constexpr std::string_view ready = "1";
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
        if (r.is_error())
          throw backend_error("the Redis server refused a command on " + some[i].to.key + ": " +
                              std::string(r.text()));
    }
    std::ranges::move(answers, std::back_inserter(all));
  }
  return all;
}

/// 48 bits, so that it is never the generation of another filter of the same name.
std::uint64_t random_generation() {
  std::uint64_t generation = 0;
  const image::filter_id random = image::random_filter_id();
  for (std::size_t i = 0; i < 6; ++i)
    generation = generation << 8 | std::to_integer<std::uint64_t>(std::byte{random[i]});
  return generation;
}

}  // namespace

namespace {

/// An option that this store does not honour must not look as if it did.
redis_url honoured(redis_url url) {
  if (url.gear == gear_kind::merge)
    throw parameter_error("gear=merge of a Redis URL is not served yet; leave it out");
  if (url.wait_replicas > 0) throw parameter_error("wait= of a Redis URL is not served yet; leave it out");
  return url;
}

}  // namespace

redis_store::redis_store(redis_url url) : pool_(std::make_shared<session_pool>(honoured(std::move(url)))) {}

spec redis_store::plan(const spec_request& request) const {
  return plan_for_redis(pool_->url(), request);
}

key_names redis_store::keys_of(std::string_view name) const {
  return {pool_->url().prefix, name};
}

bool redis_store::is_listed(session& with, std::string_view name) const {
  const std::string index = key_names::index(pool_->url().prefix);
  return ask_about(with, {index, 0}, {"SISMEMBER", index, name}).integer() == 1;
}

bool redis_store::has_header(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  return ask_about(with, {key, 0}, {"EXISTS", key}).integer() == 1;
}

bool redis_store::is_ready(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  return ask_about(with, {key, 0}, {"HGET", key, "ready"}).text() == ready;
}

/// Index and header lie on different slots, so no step sees both, and between two steps a filter may come or
/// go. Damage does neither: what looks lost is looked at again for a while before it is called so.
bool redis_store::is_lost(session& with, std::string_view name) const {
  constexpr int looks = 6;
  backoff pause;
  for (int look = 1;; ++look) {
    if (has_header(with, name) || !is_listed(with, name)) return false;
    if (look == looks) return true;
    std::this_thread::sleep_for(pause.next());
  }
}

/// Puts a filter's name on the index. Whoever drops it hides its header, then takes the name off, then
/// removes the header; so a name that is added to the index too late sees that its filter is on its way out.
/// @return false  it was dropped meanwhile; the index is as it was
bool redis_store::list(session& with, std::string_view name) const {
  const std::string index = key_names::index(pool_->url().prefix);
  (void)ask_about(with, {index, 0}, {"SADD", index, name});
  if (is_ready(with, name)) return true;
  unlist(with, name);
  return false;
}

void redis_store::unlist(session& with, std::string_view name) const {
  const std::string index = key_names::index(pool_->url().prefix);
  (void)ask_about(with, {index, 0}, {"SREM", index, name});
}

/// A filter that may take the name, as far as can be seen now.
remote_filter redis_store::new_filter(session& with, std::string_view name, const spec& s) const {
  validate_filter_name(name);
  validate(s);
  const key_names keys = keys_of(name);
  if (has_header(with, name)) throw filter_exists(name);
  // To begin anew would call everything fresh that the lost filter had seen.
  if (is_lost(with, name)) throw damaged_key(keys.header(), "is missing");
  return {keys, s, image::random_filter_id(), random_generation()};
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
      requests.push_back({key, encode({"PERSIST", key.key}) + encode({"EXISTS", key.key}), 2, true});
    const std::vector<answer> answers = send_all(with_, requests);
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (answers[i]->back().integer() != 1) throw damaged_key(made_[i].key, "is missing");
    take_name();
    (void)in_.list(with_, filter_.keys.name());
  }

 private:
  void take_name() {
    const auto encoded = image::encode_spec(filter_.spec);
    const std::string key = filter_.keys.header();
    const std::string generation = std::to_string(filter_.generation);
    const std::vector<std::string> fields = {
        "spec", std::string(text_of(encoded)), "generation", generation, "ready", std::string(ready)};
    const auto begun =
        begin_header(with_, key, std::string(text_of(std::as_bytes(std::span(filter_.id)))), fields);
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
  draft made(*this, *with, new_filter(*with, name, s));
  const remote_filter& f = made.filter();
  const std::vector<std::string> fields = first_state(f);
  std::vector<request> requests;
  for (std::uint32_t p = 0; p < s.partitions; ++p) {
    const std::string key = f.keys.state(f.generation, p);
    std::vector<std::string_view> words = {"HSET", key};
    words.insert(words.end(), fields.begin(), fields.end());
    requests.push_back(made.make({key, p}, encode(words)));
  }
  send_all(*with, requests);
  made.commit();
  return std::make_shared<redis_filter>(pool_, f, access::write);
}

remote_filter redis_store::read_header(session& with, std::string_view name) const {
  validate_filter_name(name);
  const std::string key = keys_of(name).header();
  const reply fields = ask_about(with, {key, 0}, {"HMGET", key, "spec", "id", "generation", "ready"});
  bool nothing = true;
  for (std::size_t i = 0; i < fields.size(); ++i) nothing = nothing && fields[i].is_nil();
  if (!nothing) {
    if (fields[3].text() == ready) return decode_header(name, fields);
    throw storage_error("the filter '" + std::string(name) +
                            "' is being dropped by another process, or was left half dropped by one that "
                            "died; drop it (again)",
                        0, key);
  }
  if (is_lost(with, name)) throw damaged_key(key, "is missing");
  throw no_such_filter(name);
}

remote_filter redis_store::decode_header(std::string_view name, const reply& fields) const {
  const key_names keys = keys_of(name);
  const std::string key = keys.header();
  remote_filter f{keys, {}, {}, 0};
  try {
    f.spec = image::decode_spec(std::as_bytes(std::span(fields[0].text())));
  } catch (const error& e) {
    throw damaged_key(key, std::string("is damaged (") + e.what() + ")");
  }
  if (fields[1].text().size() != f.id.size()) throw damaged_key(key, "has no valid id");
  std::copy(fields[1].text().begin(), fields[1].text().end(), f.id.begin());
  const std::string_view generation = fields[2].text();
  const char* end = generation.data() + generation.size();
  if (const auto read = std::from_chars(generation.data(), end, f.generation);
      read.ec != std::errc{} || read.ptr != end)
    throw damaged_key(key, "has no valid generation");
  return f;
}

std::shared_ptr<stored_filter> redis_store::open(std::string_view name, access how) {
  const session_pool::lease with = pool_->take();
  remote_filter f = read_header(*with, name);
  // Its maker may have died before it could.
  if (how == access::write && !list(*with, name)) throw no_such_filter(name);
  return std::make_shared<redis_filter>(pool_, std::move(f), how);
}

bool redis_store::exists(std::string_view name) const {
  return is_ready(*pool_->take(), name);
}

std::vector<std::string> redis_store::list() const {
  std::vector<std::string> names;
  {
    const session_pool::lease with = pool_->take();
    const std::string index = key_names::index(pool_->url().prefix);
    const reply members = ask_about(*with, {index, 0}, {"SMEMBERS", index});
    for (std::size_t i = 0; i < members.size(); ++i) names.emplace_back(members[i].text());
  }
  std::erase_if(names, [&](const std::string& name) { return !exists(name); });
  std::ranges::sort(names);
  return names;
}

/// Steps in an order that lets another drop finish, should this process die on the way; and what is damaged
/// must go, too. A namesake that somebody makes meanwhile has another generation, and stays.
void redis_store::drop(std::string_view name) {
  const session_pool::lease with = pool_->take();
  validate_filter_name(name);
  const std::string header = keys_of(name).header();
  const bool there = has_header(*with, name);
  if (!there && !is_listed(*with, name)) throw no_such_filter(name);
  std::string generation;
  try {
    const reply fields = ask_about(*with, {header, 0}, {"HMGET", header, "spec", "id", "generation"});
    generation = fields[2].text();
    if (there) {
      const remote_filter f = decode_header(name, fields);
      hide_header(*with, header, generation);
      for (std::uint32_t p = 0; p < f.spec.partitions; ++p) unlink_partition(*with, f, p);
    }
  } catch (const format_error&) {
    // Nobody can find its other keys any more.
  }
  unlist(*with, name);
  remove_header(*with, header, generation);
  if (is_ready(*with, name)) (void)list(*with, name);
}

void redis_store::unlink_partition(session& with, const remote_filter& f, std::uint32_t partition) const {
  const std::string state = f.keys.state(f.generation, partition);
  // From the names of the counts: they stay readable where the manifest does not.
  constexpr std::string_view counts = "keys:";
  std::vector<std::string> keys = {state, f.keys.fence(f.generation, partition)};
  try {
    const reply fields = ask_about(with, {state, partition}, {"HKEYS", state});
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (const std::string_view field = fields[i].text(); field.starts_with(counts))
        keys.push_back(state + ":" + std::string(field.substr(counts.size())));
  } catch (const format_error&) {
    // Of another type: it goes, and names nothing else.
  }
  std::vector<std::string_view> words = {"UNLINK"};
  words.insert(words.end(), keys.begin(), keys.end());
  send_all(with, {{{state, partition}, encode(words), 1, true}});
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
      throw format_error(
          "a segment is longer than the 512 MiB of a Redis string; make the filter again with more "
          "partitions");
    restore_layer(states_.at(id.partition), id, layer);
    last_id_ = id;
    last_.assign(layer.shape.bytes, std::byte{0});
    return last_;
  }

  void commit() override {
    send_last();
    std::vector<request> requests;
    for (std::uint32_t p = 0; p < states_.size(); ++p) requests.push_back(state_request(p));
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

  request state_request(std::uint32_t p) {
    const remote_filter& f = draft_.filter();
    const std::string key = f.keys.state(f.generation, p);
    const remote_partition state{p, 1, states_[p].slices};
    std::vector<std::string> words = {"HSET", key, "epoch", "1", "manifest", encode_state(f, state)};
    for (const slice_state& slice : state.slices)
      for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
        words.push_back(count_field({p, slice.index, layer}));
        words.push_back(std::to_string(slice.layers[layer].keys));
      }
    return draft_.make({key, p}, encode(std::vector<std::string_view>(words.begin(), words.end())));
  }

  redis_store into_;  // a copy: who restores need not keep the store
  session_pool::lease with_;
  draft draft_;
  std::vector<partition_state> states_;
  segment_id last_id_;
  std::vector<std::byte> last_;
};

std::unique_ptr<store::restore> redis_store::begin_restore(std::string_view name, const spec& s) {
  return std::make_unique<restoring>(*this, name, s);
}

}  // namespace everseen::redis
