#include "everseen/redis/redis_store.hpp"

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "everseen/redis/planning.hpp"
#include "everseen/redis/redis_filter.hpp"
#include "everseen/redis/scripts.hpp"

namespace everseen::redis {

namespace {

constexpr std::string_view building = "0";
constexpr std::string_view ready = "1";

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Sends many requests a few at a time, so that neither side has to keep them all.
/// @throws backend_error  one was not answered, or answered by an error
void send_all(session& with, const std::vector<request>& requests) {
  constexpr std::size_t at_once = 256;
  for (std::size_t from = 0; from < requests.size(); from += at_once) {
    const auto some = std::span(requests).subspan(from, std::min(at_once, requests.size() - from));
    for (const answer& a : with.exchange(some)) {
      if (!a) throw backend_error(a.error().message);
      for (const reply& r : *a)
        if (r.is_error()) throw backend_error("the Redis server refused a command: " + std::string(r.text()));
    }
  }
}

}  // namespace

redis_store::redis_store(redis_url url) : pool_(std::make_shared<session_pool>(std::move(url))) {}

spec redis_store::plan(const spec_request& request) const {
  return plan_for_redis(pool_->url(), request);
}

key_names redis_store::keys_of(std::string_view name) const {
  return {pool_->url().prefix, name};
}

/// Takes the name, by one step: of many clients that make a filter of the same name exactly one goes on.
remote_filter redis_store::begin(session& with, std::string_view name, const spec& s) const {
  validate_filter_name(name);
  validate(s);
  remote_filter f{keys_of(name), s, image::random_filter_id(), 1};
  // Into the index before it exists: list() asks each name, and a filter must never be missing there.
  const std::string index = key_names::index(pool_->url().prefix);
  (void)with.ask({index, 0}, {"SADD", index, name}, true);
  const auto encoded = image::encode_spec(s);
  const script& begin = scripts::begin();
  const std::string key = f.keys.header();
  const reply begun = with.ask({key, 0}, {"EVAL", begin.text, "1", key, "spec", text_of(encoded), "id",
                                          text_of(std::as_bytes(std::span(f.id))), "generation",
                                          std::to_string(f.generation), "ready", building});
  if (begun.integer() != 1) throw filter_exists(name);
  return f;
}

/// Makes it visible.
void redis_store::finish(session& with, const remote_filter& f) const {
  const std::string key = f.keys.header();
  (void)with.ask({key, 0}, {"HSET", key, "ready", ready}, true);
}

std::shared_ptr<stored_filter> redis_store::create(std::string_view name, const spec& s) {
  const session_pool::lease with = pool_->take();
  const remote_filter f = begin(*with, name, s);
  const std::vector<std::string> fields = first_state(f);
  std::vector<request> requests;
  for (std::uint32_t p = 0; p < s.partitions; ++p) {
    const std::string key = f.keys.state(f.generation, p);
    std::vector<std::string_view> words = {"HSET", key};
    words.insert(words.end(), fields.begin(), fields.end());
    requests.push_back({{key, p}, encode(words), 1, true});
  }
  send_all(*with, requests);
  finish(*with, f);
  return std::make_shared<redis_filter>(pool_, f, access::write);
}

remote_filter redis_store::read_header(session& with, std::string_view name) const {
  validate_filter_name(name);
  const key_names keys = keys_of(name);
  const std::string key = keys.header();
  const reply fields = with.ask({key, 0}, {"HMGET", key, "spec", "id", "generation", "ready"}, true);
  if (fields.size() != 4 || fields[0].is_nil()) throw no_such_filter(name);
  if (fields[3].text() != ready)
    throw storage_error(
        "the filter '" + std::string(name) +
            "' is being made by another process, or was left half made by one that died; wait, or drop it",
        0, key);
  remote_filter f{keys, image::decode_spec(std::as_bytes(std::span(fields[0].text()))), {}, 0};
  if (fields[1].text().size() != f.id.size()) throw damaged_key(key, "has no valid id");
  std::copy(fields[1].text().begin(), fields[1].text().end(), f.id.begin());
  const std::string_view generation = fields[2].text();
  if (std::from_chars(generation.data(), generation.data() + generation.size(), f.generation).ec !=
      std::errc{})
    throw damaged_key(key, "has no valid generation");
  return f;
}

std::shared_ptr<stored_filter> redis_store::open(std::string_view name, access how) {
  const session_pool::lease with = pool_->take();
  // A filter that another client is making will be ready soon; one whose maker died never will.
  constexpr std::chrono::milliseconds pause{20};
  for (auto waited = pause; waited < pool_->url().retry_for && is_being_made(*with, name); waited += pause)
    std::this_thread::sleep_for(pause);
  return std::make_shared<redis_filter>(pool_, read_header(*with, name), how);
}

bool redis_store::is_being_made(session& with, std::string_view name) const {
  const std::string key = keys_of(name).header();
  return with.ask({key, 0}, {"HGET", key, "ready"}, true).text() == building;
}

bool redis_store::exists(std::string_view name) const {
  const session_pool::lease with = pool_->take();
  const std::string key = keys_of(name).header();
  return with->ask({key, 0}, {"HGET", key, "ready"}, true).text() == ready;
}

std::vector<std::string> redis_store::list() const {
  const session_pool::lease with = pool_->take();
  const std::string index = key_names::index(pool_->url().prefix);
  const reply members = with->ask({index, 0}, {"SMEMBERS", index}, true);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (std::string name(members[i].text()); exists(name)) names.push_back(std::move(name));
  std::ranges::sort(names);
  return names;
}

void redis_store::drop(std::string_view name) {
  const session_pool::lease with = pool_->take();
  const std::string header = keys_of(name).header();
  const reply was = with->ask({header, 0}, {"HGET", header, "ready"}, true);
  if (was.is_nil()) throw no_such_filter(name);
  // Readable first, so that its keys can be found; then out of sight. What follows can be repeated by another
  // drop, should this process die on the way.
  (void)with->ask({header, 0}, {"HSET", header, "ready", ready}, true);
  const remote_filter f = read_header(*with, name);
  (void)with->ask({header, 0}, {"HSET", header, "ready", building}, true);
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p) unlink_partition(*with, f, p);
  (void)with->ask({header, 0}, {"UNLINK", header}, true);
  const std::string index = key_names::index(pool_->url().prefix);
  (void)with->ask({index, 0}, {"SREM", index, name}, true);
}

void redis_store::unlink_partition(session& with, const remote_filter& f, std::uint32_t partition) const {
  const std::string state = f.keys.state(f.generation, partition);
  std::vector<std::string> keys = {state};
  const reply fields = with.ask({state, partition}, {"HGETALL", state}, true);
  if (fields.size() > 0) {
    const remote_partition p = decode_state(f, partition, fields);
    for (const slice_state& slice : p.slices)
      for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer)
        keys.push_back(f.keys.segment(f.generation, {partition, slice.index, layer}));
  }
  std::vector<std::string_view> words = {"UNLINK"};
  words.insert(words.end(), keys.begin(), keys.end());
  send_all(with, {{{state, partition}, encode(words), 1, true}});
}

/// Segments gathered in memory, sent to the server one by one, and made visible together.
class redis_store::restoring final : public store::restore {
 public:
  restoring(const redis_store& into, std::string_view name, const spec& s)
      : into_(into), with_(into.pool_->take()), filter_(into.begin(*with_, name, s)), states_(s.partitions) {}

  ~restoring() override {
    if (committed_) return;
    try {
      into_.drop(std::string(filter_.keys.name()));
    } catch (const error&) {
      // The header still says that it is being made; a later drop removes the rest.
    }
  }

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
    into_.finish(*with_, filter_);
    committed_ = true;
  }

 private:
  static constexpr std::size_t page_bytes = std::size_t{1} << 20;

  void send_last() {
    const std::string key = filter_.keys.segment(filter_.generation, last_id_);
    std::vector<request> requests;
    for (std::size_t at = 0; at < last_.size(); at += page_bytes) {
      const std::span<const std::byte> page =
          std::span(last_).subspan(at, std::min(page_bytes, last_.size() - at));
      requests.push_back(
          {{key, last_id_.partition}, encode({"SETRANGE", key, std::to_string(at), text_of(page)}), 1, true});
      if (requests.size() == 16) send_all(*with_, std::exchange(requests, {}));
    }
    send_all(*with_, requests);
    last_.clear();
  }

  request state_request(std::uint32_t p) const {
    const std::string key = filter_.keys.state(filter_.generation, p);
    const remote_partition state{p, 1, states_[p].slices};
    std::vector<std::string> words = {"HSET", key, "epoch", "1", "manifest", encode_state(filter_, state)};
    for (const slice_state& slice : state.slices)
      for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
        words.push_back(count_field({p, slice.index, layer}));
        words.push_back(std::to_string(slice.layers[layer].keys));
      }
    return {{key, p}, encode(std::vector<std::string_view>(words.begin(), words.end())), 1, true};
  }

  redis_store into_;  // a copy: who restores need not keep the store
  session_pool::lease with_;
  remote_filter filter_;
  std::vector<partition_state> states_;
  segment_id last_id_;
  std::vector<std::byte> last_;
  bool committed_ = false;
};

std::unique_ptr<store::restore> redis_store::begin_restore(std::string_view name, const spec& s) {
  return std::make_unique<restoring>(*this, name, s);
}

}  // namespace everseen::redis
