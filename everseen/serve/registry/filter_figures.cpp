#include "everseen/serve/registry/filter_figures.hpp"

#include <algorithm>
#include <set>

#include "everseen/core/base/error.hpp"

namespace everseen::serve {

namespace {

constexpr std::chrono::milliseconds good_for{900};  // a client that polls each second gets new figures
constexpr std::chrono::seconds good_after_outage{5};

filter_figures::instance& instance_of(filter_figures& f, const std::string& place) {
  for (auto& each : f.instances)
    if (each.place == place) return each;
  return f.instances.emplace_back(filter_figures::instance{place});
}

}  // namespace

void layer_sum::add(const partition_state& state) noexcept {
  for (const slice_state& slice : state.slices)
    for (const layer_state& layer : slice.layers) {
      keys += layer.keys;
      room += layer.capacity;
      bytes += layer.shape.bytes;
    }
}

filter_figures figures_of(const filter_info& info) {
  filter_figures f;
  f.keys = info.keys;
  f.error_rate_now = std::clamp(info.error_rate_now, 0.0, 1.0);
  f.layers = info.max_layers;
  f.bytes = info.bytes;
  layer_sum all;
  std::set<window::slice_index> slices;
  for (std::size_t p = 0; p < info.partitions.size(); ++p) {
    layer_sum one;
    one.add(info.partitions[p]);
    all.add(info.partitions[p]);
    for (const slice_state& slice : info.partitions[p].slices) slices.insert(slice.index);
    auto& there = instance_of(f, info.places[p]);
    ++there.partitions;
    there.keys += one.keys;
    there.bytes += one.bytes;
  }
  f.fill = all.fill();
  f.slices = static_cast<std::uint32_t>(slices.size());
  return f;
}

void recent_figures::look_at(const filter& source, clock::time_point current_time) {
  {
    const std::scoped_lock alone(lock_);
    if (current_time < good_until_) return;
    good_until_ = current_time + good_for;
  }
  try {
    filter_figures now_there = figures_of(source.info());
    const std::scoped_lock alone(lock_);
    last_ = std::move(now_there);
  } catch (const error&) {
    const std::scoped_lock alone(lock_);
    good_until_ = clock::now() + good_after_outage;
  }
}

std::optional<filter_figures> recent_figures::last() const {
  const std::scoped_lock alone(lock_);
  return last_;
}

}  // namespace everseen::serve
