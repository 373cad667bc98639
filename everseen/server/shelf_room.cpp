#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/server/filter_shelf.hpp"
#include "everseen/server/planned_bytes.hpp"

/// How much room the filters of a shelf take, and how they give it back when they have ended.
namespace everseen::server {

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// Filters that ended while nobody had them open go so often.
constexpr std::chrono::seconds between_removals{10};

}  // namespace

void filter_shelf::remove_ended() {
  std::vector<std::string> ended;
  for (const auto& each : opened())
    if (each->has_ended()) ended.push_back(each->key);
  for (const std::string& key : ended) {
    const turns::turn alone = changing_.take(key);
    auto open = find_any(key);
    const bool is_over = open && open->has_ended();
    open.reset();
    if (is_over) close(key);
  }
  place_->remove_ended();
  forget_listing();
}

/// Who only looks at filters must not stop those who write to others.
bool filter_shelf::counts(const shared_filter& f) const {
  return is_memory_ || f.room.bytes() > 0 || f.record->count.batches(question::add) > 0;
}

void filter_shelf::tend() {
  std::uint64_t there = 0;
  bool has_ended = std::chrono::steady_clock::now() - removed_ > between_removals;
  for (const auto& each : opened()) {
    if (each->has_ended()) {
      has_ended = true;
      continue;
    }
    // What servers keep is theirs to limit, and asking them costs a round trip.
    const std::uint64_t has = place_->is_remote() ? 0 : each->handle.info().bytes;
    there += has;
    if (counts(*each))
      each->room.set(std::max(each->planned_bytes, has) +
                     bytes_beside_bits(each->handle.get_spec().partitions));
  }
  if (follows_room_)
    if (const auto room = place_->room_bytes())
      room_.set_most(*room > no_limit - there ? no_limit : *room + there);
  if (!has_ended || is_removing_.exchange(true)) return;
  removed_ = std::chrono::steady_clock::now();
  workers_.submit([this] {
    try {
      remove_ended();
    } catch (const error&) {
      // The next time.
    }
    is_removing_ = false;
  });
}

}  // namespace everseen::server
