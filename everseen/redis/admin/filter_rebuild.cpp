#include "everseen/redis/admin/filter_rebuild.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "everseen/core/base/names.hpp"
#include "everseen/core/format/redis_keys.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/redis/admin/planning.hpp"
#include "everseen/redis/filter/followed_filter.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/filter/sealable_filter.hpp"
#include "everseen/redis/journal/mirror_set.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/staged_key.hpp"
#include "everseen/redis/ledger/job_list.hpp"
#include "everseen/redis/served/staged_value.hpp"
#include "everseen/redis/served/stored_value.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

/// The number of attempts while other rebuilds are faster.
constexpr int most_rebuild_attempts = 100;

storage_error replaced(const std::string& name, const filter_identity& f) {
  return storage_error("the filter " + quoted_name(name) +
                           " was dropped, emptied or rebuilt by another client meanwhile; begin again",
                       0, f.keys.header());
}

void require_none(server_connections& connections, const std::string& name, const filter_identity& f) {
  require_no_jobs(name, job_list(name, f).names(connections), "be rebuilt");
}

}  // namespace

filter_rebuild::filter_rebuild(std::shared_ptr<connection_pool> pool, const filter_directory& in,
                               std::string_view name, const spec& s, std::span<const partition_state> base)
    : pool_(std::move(pool)), in_(in), name_(name), base_(base.begin(), base.end()), draft_(pool_, in, s) {
  validate(s);
  if (s.judge == judge_kind::client) require_that_clients_hold(pool_->url(), s);
  const connection_pool::lease connections = pool_->take();
  const filter_header h = in_.look_up(*connections, name_, true).header;
  require_own(name_, h, "create a filter of everseen's own, and fill that");
  origin_ = h.origin;
  (void)old_one(*connections);
  if (base_.empty()) begin();
}

/// The filter to be succeeded; by now it may be a successor of the one that was opened.
filter_identity filter_rebuild::old_one(server_connections& connections) {
  auto [old, h] = in_.look_up(connections, name_, true);
  if (h.origin != origin_) throw replaced(name_, old);
  require_rebuildable(old.spec, draft_.identity().spec);
  require_none(connections, name_, old);
  return old;
}

void filter_rebuild::merge(const segment_id& id, std::span<const std::byte> bits) {
  const auto& slices = base_.at(id.partition).slices;
  const auto slice = std::ranges::find(slices, id.slice, &slice_state::index);
  if (slice == slices.end() || id.layer >= slice->layers.size() ||
      bits.size() != slice->layers[id.layer].shape.bytes)
    throw parameter_error("the base of the rebuild has no such segment");
  std::ranges::copy(bits, draft_.add_segment(id, slice->layers[id.layer]).begin());
}

/// Prepares the new filter and makes it the successor. If the answer to the last step is lost, the filter
/// must not be prepared again: it may be in use.
void filter_rebuild::decide(server_connections& connections) {
  if (is_in_doubt_) throw replaced(name_, draft_.identity());
  const std::vector<partition_state>& states = draft_.finish();
  const filter_identity& next = draft_.identity();
  for (int i = 0; i < most_rebuild_attempts; ++i) {
    const filter_identity old = old_one(connections);
    const auto h = read_filter_header(connections, old);
    if (!h) throw replaced(name_, old);
    in_.prepare(connections, next, states,
                {.spec = next.spec, .expires_at = h->expires_at, .after = old.id, .origin = h->origin});
    is_in_doubt_ = true;
    const succession outcome = decide_succession(connections, old, next.id);
    is_in_doubt_ = false;
    switch (outcome) {
      case succession::decided:
        old_ = old;
        return;
      case succession::has_jobs:
        require_none(connections, name_, old);
        continue;
      case succession::taken:
        continue;
      case succession::gone:
        throw replaced(name_, old);
    }
  }
  throw storage_error(quoted_name(name_) + " is repeatedly rebuilt by other clients", 0, next.keys.header());
}

/// A judging client that only adds keys it has already seen learns of a seal within a second. This waits that
/// long, so that all keys added after it returns are kept.
void filter_rebuild::begin() {
  if (is_in_place_) return;
  const connection_pool::lease connections = pool_->take();
  if (!old_) decide(*connections);
  const filter_identity& next = draft_.identity();
  switch (put_in_place(*connections, *old_, next.id)) {
    case placing::done:
      break;
    case placing::unnamed:
      throw replaced(name_, next);
    case placing::unmade:
      throw storage_error(quoted_name(name_) +
                              " is unchanged: a server lost a part of the new filter, or the rebuild took "
                              "longer than a day; begin again",
                          0, next.keys.header());
  }
  (void)asked_before(*connections, next, sealing::yes);
  if (next.spec.window) keep_window();
  if (old_->spec.judge == judge_kind::client) std::this_thread::sleep_for(mirror_set::unasked_at_most);
  is_in_place_ = true;
}

/// Keys that were too late for the old filter are too late for the new one.
void filter_rebuild::keep_window() const {
  const auto before = open_sealable(pool_, name_, *old_, access::read);
  std::optional<window::slice_index> newest;
  for (std::uint32_t p = 0; p < old_->spec.partitions; ++p)
    if (const auto slices = before->state(p).slices; !slices.empty())
      newest = std::max(newest.value_or(slices.back().index), slices.back().index);
  if (newest) open_sealable(pool_, name_, draft_.identity(), access::write)->move_window_to(*newest);
}

std::shared_ptr<stored_filter> filter_rebuild::target() {
  begin();
  return open_sealable(pool_, name_, draft_.identity(), access::write);
}

void filter_rebuild::commit() {
  begin();
  const connection_pool::lease connections = pool_->take();
  const filter_identity& made = draft_.identity();
  if (!forget_before(*connections, made, old_->id, word_)) throw replaced(name_, made);
  in_.removal().finish_after(*connections, quoted_name(name_) + " is rebuilt");
}

filter_restore::filter_restore(std::shared_ptr<connection_pool> pool, const filter_directory& into,
                               std::string_view name, const spec& s)
    : pool_(std::move(pool)), into_(into), name_(name), draft_(pool_, into, s) {
  validate(s);
  validate_filter_name(name);
  if (into_.has(*pool_->take(), name)) throw filter_exists(name);
}

void filter_restore::commit() {
  const auto& states = draft_.finish();
  const connection_pool::lease connections = pool_->take();
  into_.prepare(*connections, draft_.identity(), states, {.spec = draft_.identity().spec});
  into_.publish(*connections, name_, draft_.identity());
}

segment_draft::segment_draft(std::shared_ptr<connection_pool> pool, const filter_directory& in, const spec& s)
    : pool_(std::move(pool)), made_(in.draft(s)), states_(s.partitions) {}

std::span<std::byte> segment_draft::add_segment(const segment_id& id, const layer_state& layer) {
  if (!held_.empty() && (!has_values() || held_.front().id.partition != id.partition)) send_held();
  if (has_values() && held_.empty() && !states_.at(id.partition).slices.empty())
    throw format_error("the segments of partition " + std::to_string(id.partition) + " do not come together");
  if (const auto excess = partition_keys::excess_of(layer.shape); !has_values() && !excess.empty())
    throw parameter_error("the filter cannot be kept on Redis servers: " + std::string(excess));
  restore_layer(states_.at(id.partition), id, layer);
  return held_.emplace_back(held_segment{id, std::vector<std::byte>(layer.shape.bytes)}).bits;
}

void segment_draft::send_held() {
  if (held_.empty()) return;
  // The copy may have been taken while keys were added, so its counts may lag.
  for (const held_segment& s : held_) {
    auto& slices = states_[s.id.partition].slices;
    layer_state& layer = std::ranges::find(slices, s.id.slice, &slice_state::index)->layers[s.id.layer];
    layer.keys = recovered_keys(layer.keys, layer.shape, s.bits);
  }
  const connection_pool::lease connections = pool_->take();
  has_values() ? send_value(*connections) : send_string(*connections, held_.front());
  held_.clear();
}

void segment_draft::send_string(server_connections& connections, const held_segment& s) {
  const std::string key = made_.keys.segment(s.id);
  const std::string_view bits(reinterpret_cast<const char*>(s.bits.data()), s.bits.size());
  for (int attempt = 0; attempt < most_writings; ++attempt) {
    const staged_key staged{{key, s.id.partition},
                            made_.keys.staged(s.id.partition, random_name(), 0),
                            std::string(unseen_life_ms)};
    if (store_string(connections, staged, bits, key)) return;
  }
  throw lost_data(key);
}

void segment_draft::send_value(server_connections& connections) {
  const std::uint32_t partition = held_.front().id.partition;
  std::ranges::sort(held_, {}, &held_segment::id);
  std::vector<std::span<const std::byte>> bits;
  for (const held_segment& s : held_) bits.emplace_back(s.bits);
  write_value(connections, made_, made_.keys.state(partition),
              header_of(made_, partition, states_[partition], random_content()), bits, unseen_life_ms);
}

const std::vector<partition_state>& segment_draft::finish() {
  send_held();
  return states_;
}

}  // namespace everseen::redis
