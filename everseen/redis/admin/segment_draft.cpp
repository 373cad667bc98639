#include "everseen/redis/admin/segment_draft.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/format/redis_keys.hpp"
#include "everseen/redis/filter/partition_admin.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/served/stored_value.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/recovered_keys.hpp"

namespace everseen::redis {

namespace {

constexpr std::size_t draft_page_bytes = piece_bytes;
constexpr std::size_t draft_pages_at_once = 256;

}  // namespace

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
  const route destination{key, s.id.partition};
  std::vector<script_call> pages;
  for (std::size_t position = 0; position < bits.size(); position += draft_page_bytes) {
    pages.push_back({&draft_scripts::write_page(),
                     destination,
                     {key, made_.keys.state(s.id.partition)},
                     {std::to_string(position), std::string(bits.substr(position, draft_page_bytes)),
                      std::string(unseen_life_ms)}});
    if (pages.size() < draft_pages_at_once && position + draft_page_bytes < bits.size()) continue;
    for (const answer& a : run_scripts(connections, std::exchange(pages, {}))) (void)expect_reply(a, key);
  }
}

void segment_draft::send_value(server_connections& connections) {
  const std::uint32_t partition = held_.front().id.partition;
  const announced_filter header = header_of(made_, partition, states_[partition], random_content());
  (void)run_script(connections, first_call(made_, header));
  std::ranges::sort(held_, {}, &held_segment::id);
  for (std::size_t i = 0; i < held_.size(); ++i) write_bits(connections, made_, header, i, held_[i].bits);
}

const std::vector<partition_state>& segment_draft::finish() {
  send_held();
  return states_;
}

}  // namespace everseen::redis
