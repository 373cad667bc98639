#include "everseen/redis/admin/segment_draft.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/format/partition_keys.hpp"
#include "everseen/redis/admin/draft_scripts.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/recovered_keys.hpp"

namespace everseen::redis {

namespace {

constexpr std::size_t draft_page_bytes = piece_bytes;
constexpr std::size_t draft_pages_at_once = 256;

}  // namespace

segment_draft::segment_draft(std::shared_ptr<session_pool> pool, const filter_directory& in, const spec& s)
    : pool_(std::move(pool)), made_(in.draft(s)), states_(s.partitions) {}

std::span<std::byte> segment_draft::add_segment(const segment_id& id, const layer_state& layer) {
  send_last();
  if (const auto excess = partition_keys::excess_of(layer.shape); !excess.empty())
    throw parameter_error("the filter cannot be kept on Redis servers: " + std::string(excess));
  restore_layer(states_.at(id.partition), id, layer);
  last_id_ = id;
  last_.assign(layer.shape.bytes, std::byte{0});
  return last_;
}

void segment_draft::send_last() {
  if (last_.empty()) return;
  // The copy may have been taken while keys were added, so its count may lag.
  for (slice_state& slice : states_[last_id_.partition].slices)
    if (slice.index == last_id_.slice) {
      layer_state& layer = slice.layers[last_id_.layer];
      layer.keys = recovered_keys(layer.keys, layer.shape, last_);
    }
  const std::string key = made_.keys.segment(last_id_);
  const std::string_view bits(reinterpret_cast<const char*>(last_.data()), last_.size());
  const session_pool::lease with = pool_->take();
  const route to{key, last_id_.partition};
  std::vector<script_call> pages;
  for (std::size_t at = 0; at < bits.size(); at += draft_page_bytes) {
    pages.push_back(
        {&draft_scripts::write_page(),
         to,
         {key, made_.keys.state(last_id_.partition)},
         {std::to_string(at), std::string(bits.substr(at, draft_page_bytes)), std::string(unseen_life_ms)}});
    if (pages.size() < draft_pages_at_once && at + draft_page_bytes < bits.size()) continue;
    for (const answer& a : run_scripts(*with, std::exchange(pages, {}))) (void)expect_reply(a, key);
  }
  last_.clear();
}

const std::vector<partition_state>& segment_draft::finish() {
  send_last();
  return states_;
}

}  // namespace everseen::redis
