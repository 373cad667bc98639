#include "everseen/redis/redis_rebuild.hpp"

#include <algorithm>

#include "everseen/redis/ending.hpp"
#include "everseen/redis/jobs.hpp"
#include "everseen/redis/redis_filter.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/renaming.hpp"
#include "everseen/redis/upkeep.hpp"
#include "everseen/store/recovered_keys.hpp"

namespace everseen::redis {

namespace {

/// So long a new generation lives without being put in place.
constexpr std::chrono::milliseconds draft_life = std::chrono::hours(24);
/// So long a closed partition can be looked at by batches that were on their way when it closed.
constexpr std::chrono::milliseconds grace = std::chrono::minutes(1);
/// Zeroing so much takes the server about a millisecond.
constexpr std::uint64_t step_bytes = std::uint64_t{4} << 20;

storage_error replaced(const remote_filter& f) {
  return storage_error("the filter '" + f.keys.name() +
                           "' was dropped, emptied or rebuilt by somebody else meanwhile; begin again",
                       0, f.keys.header());
}

std::string spec_text(const spec& s) {
  const auto bytes = image::encode_spec(s);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void send_all(session& with, const std::vector<request>& requests) {
  const std::vector<answer> answers = with.exchange(requests);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) throw backend_error(answers[i].error().message);
    for (const reply& r : *answers[i])
      if (r.is_error()) throw backend_error(refused_command(requests[i].to.key, r.text()));
  }
}

}  // namespace

redis_rebuild::redis_rebuild(std::shared_ptr<session_pool> pool, std::string_view name, const spec& s)
    : pool_(std::move(pool)),
      with_(pool_->take()),
      catalogue_(pool_->url()),
      live_(catalogue_.read(*with_, name)),
      next_(live_) {
  validate(s);
  require_rebuildable(live_.spec, s);
  next_.spec = s;
  next_.generation = random_generation();
}

redis_rebuild::~redis_rebuild() {
  if (is_ready_) return;
  try {
    give_up_rebuild(*with_, live_, next_);
  } catch (const error&) {
    // It expires.
  }
}

void redis_rebuild::begin(std::span<const partition_state> base) {
  header h = catalogue_.read_header(*with_, live_.keys.name());
  require_no_jobs(*with_, h, "be rebuilt");
  finish_rebuild(*with_, catalogue_, h);
  finish_rename(*with_, catalogue_, h);
  finish_end(*with_, catalogue_, h);
  require_staying(*with_, h);
  live_ = h.live;
  next_.ends_at = live_.ends_at;
  base_.assign(base.begin(), base.end());
  base_.resize(next_.spec.partitions);
  make_states(base_);
  const std::string before = h.next ? std::to_string(h.next->generation) : "";
  if (!change_header(*with_, live_.keys.header(),
                     {{"generation", std::to_string(live_.generation)},
                      {"ready", std::string(ready)},
                      {"next", before},
                      {"jobs", ""},
                      {"ends_at", live_.ends_at ? to_text(*live_.ends_at) : ""},
                      {"ends_next", ""},
                      {"moves_to", ""},
                      {"next_ready", ""}},
                     {{"next", std::to_string(next_.generation)}, {"next_spec", spec_text(next_.spec)}}))
    throw replaced(live_);
  for (std::uint32_t p = 0; p < live_.spec.partitions; ++p) announce(*with_, live_, p, next_.generation);
  if (h.next) unlink_partitions(*with_, *h.next);  // of one that was given up, or has lost this race
}

void redis_rebuild::make_states(std::span<const partition_state> base) {
  remote_filter draft = next_;
  draft.ends_at = catalogue::server_time(*with_, live_.keys.header()) + draft_life;
  const std::string end = to_text(*draft.ends_at);
  for (std::uint32_t p = 0; p < next_.spec.partitions; ++p) {
    const std::string state = next_.keys.state(next_.generation, p);
    std::vector<std::string> words = {
        "HSET", state, "epoch", "0", "manifest", encode_state(draft, {p, 0, base[p].slices}), "ends_at", end};
    for (const slice_state& slice : base[p].slices)
      for (std::uint32_t layer = 0; layer < slice.layers.size(); ++layer) {
        const segment_id id = {p, slice.index, layer};
        make_segment(id, slice.layers[layer].shape.bytes, end);
        words.insert(words.end(), {count_field(id), std::to_string(slice.layers[layer].keys)});
      }
    std::vector<request> requests;
    requests.push_back({{state, p},
                        encode(std::vector<std::string_view>(words.begin(), words.end())) +
                            encode({"PEXPIREAT", state, end}),
                        2,
                        true});
    send_all(*with_, requests);
  }
}

void redis_rebuild::make_segment(const segment_id& id, std::uint64_t bytes, const std::string& end) {
  const std::string key = next_.keys.segment(next_.generation, id);
  for (std::uint64_t length = 0; length < bytes;) {
    length = std::min(bytes, length + step_bytes);
    std::vector<request> requests;
    requests.push_back({{key, id.partition},
                        encode({"SETRANGE", key, std::to_string(length - 1), std::string_view("\0", 1)}) +
                            encode({"PEXPIREAT", key, end}),
                        2,
                        true});
    send_all(*with_, requests);
  }
}

std::shared_ptr<stored_filter> redis_rebuild::target() {
  return std::make_shared<redis_filter>(pool_, next_, choose_gear(*with_, pool_->url()), access::write);
}

/// The copy may have been taken beside a writer, so that its count lags behind its bits.
void redis_rebuild::merge(const segment_id& id, std::span<const std::byte> bits) {
  const auto& slices = base_.at(id.partition).slices;
  const auto slice = std::ranges::find(slices, id.slice, &slice_state::index);
  if (slice == slices.end() || id.layer >= slice->layers.size() ||
      slice->layers[id.layer].shape.bytes != bits.size())
    throw format_error("the copy has changed since it was looked at; make it again");
  const layer_state& layer = slice->layers[id.layer];
  const std::uint64_t counted = recovered_keys(layer.keys, layer.shape, bits);
  merge_bits(*with_, next_, id, bits, counted - std::min(counted, layer.keys));
}

void redis_rebuild::commit() {
  for (std::uint32_t p = 0; p < next_.spec.partitions; ++p) make_lasting(*with_, next_, p);
  if (!change_header(*with_, live_.keys.header(),
                     {{"generation", std::to_string(live_.generation)},
                      {"next", std::to_string(next_.generation)},
                      {"ready", std::string(ready)}},
                     {{"next_ready", std::string(ready)}}))
    throw replaced(live_);
  is_ready_ = true;
  header h{live_, next_, true};
  finish_rebuild(*with_, catalogue_, h);
}

void finish_rebuild(session& with, const catalogue& names, header& h) {
  if (!h.next || !h.next_is_ready) return;
  const std::string key = h.live.keys.header();
  event_time until = catalogue::server_time(with, key) + grace;
  if (h.live.ends_at) until = std::min(until, *h.live.ends_at);
  for (std::uint32_t p = 0; p < h.live.spec.partitions; ++p) close_partition(with, h.live, p, until);
  (void)change_header(with, key,
                      {{"next", std::to_string(h.next->generation)}, {"next_ready", std::string(ready)}},
                      {{"generation", std::to_string(h.next->generation)},
                       {"spec", spec_text(h.next->spec)},
                       {"next", ""},
                       {"next_spec", ""},
                       {"next_ready", ""}});
  h = names.read_header(with, h.live.keys.name());  // somebody else may have done it, and more
}

void give_up_rebuild(session& with, const remote_filter& live, const remote_filter& next) {
  const bool ours =
      change_header(with, live.keys.header(), {{"next", std::to_string(next.generation)}, {"next_ready", ""}},
                    {{"next", ""}, {"next_spec", ""}});
  if (ours)
    for (std::uint32_t p = 0; p < live.spec.partitions; ++p) announce(with, live, p, 0);
  // Where it became ready after all, its keys are the filter's.
  const reply now =
      ask_about(with, {live.keys.header(), 0}, {"HMGET", live.keys.header(), "generation", "next"});
  const std::string number = std::to_string(next.generation);
  if (now[0].text() != number && now[1].text() != number) unlink_partitions(with, next);
}

}  // namespace everseen::redis
