#include "everseen/store/memory/memory_store.hpp"

#include <algorithm>

#include <unistd.h>

#include "everseen/store/embedded/embedded_filter.hpp"
#include "everseen/store/link/linking.hpp"
#include "everseen/store/memory/memory_segments.hpp"
#include "everseen/store/port/recovered_keys.hpp"

namespace everseen {

namespace {

/// An embedded filter that owns its memory. The bits are a base class, so that they are constructed before
/// the logic that refers to them, and destroyed after it.
class memory_filter : private memory_segments, public embedded_filter {
 public:
  memory_filter(const spec& s, time_source now, std::optional<event_time> end)
      : memory_filter(s, memory_segments(s.partitions), {}, std::move(now), end) {}
  memory_filter(const spec& s, memory_segments bits, std::vector<partition_state> states, time_source now,
                std::optional<event_time> end = {})
      : memory_segments(std::move(bits)),
        embedded_filter(s, static_cast<memory_segments&>(*this), std::move(states), std::move(now), end) {}

  void sync() override {}  // memory does not outlive the process
};

}  // namespace

/// Collects segments until the filter is complete.
class memory_store::restoring : public store::restore {
 public:
  restoring(std::shared_ptr<registry> into, std::string_view name, const spec& s, time_source now)
      : into_(std::move(into)),
        name_(name),
        spec_(s),
        now_(std::move(now)),
        bits_(s.partitions),
        states_(s.partitions) {}

  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) override {
    restore_layer(states_.at(id.partition), id, layer);
    bits_.create(id, layer.shape, layer.capacity);
    bits_.note_keys(id, layer.keys);
    return {bits_.at(id), layer.shape.bytes};
  }

  void commit() override {
    // A writer may have been active during the copy, so counts may lag behind the bits.
    for (std::uint32_t p = 0; p < spec_.partitions; ++p)
      for (slice_state& slice : states_[p].slices)
        for (std::uint32_t i = 0; i < slice.layers.size(); ++i) {
          layer_state& layer = slice.layers[i];
          const std::byte* const bits = bits_.at({p, slice.index, i});
          layer.keys = recovered_keys(layer.keys, layer.shape, {bits, layer.shape.bytes});
        }
    into_->insert(name_, std::make_shared<memory_filter>(spec_, std::move(bits_), std::move(states_), now_));
  }

 private:
  std::shared_ptr<registry> into_;
  std::string name_;
  spec spec_;
  time_source now_;
  memory_segments bits_;
  std::vector<partition_state> states_;
};

memory_store::memory_store(time_source now) : now_(std::move(now)) {}

std::shared_ptr<stored_filter> memory_store::create(std::string_view name, const spec& s) {
  auto filter = std::make_shared<memory_filter>(s, now_, std::nullopt);
  registry_->insert(name, filter);
  return filter;
}

std::shared_ptr<stored_filter> memory_store::create_expiring(std::string_view name, const spec& s,
                                                             std::chrono::milliseconds life) {
  auto filter = std::make_shared<memory_filter>(s, now_, end_after(now_(), life));
  registry_->insert(name, filter);
  return filter;
}

std::shared_ptr<stored_filter> memory_store::open(std::string_view name, access /*how*/) {
  const std::scoped_lock alone(registry_->lock);
  const registry::entry& newer = registry_->at(name);
  if (!newer.older || newer.older->is_over(now_())) return newer.filter;
  return open_linked(
      name, *newer.older, now_, [&] { return registry_->at(newer.older->name).filter; },
      [&] { return newer.filter; });
}

void memory_store::link(std::string_view older, std::string_view newer,
                        std::optional<std::chrono::milliseconds> life) {
  const std::scoped_lock alone(registry_->lock);
  const event_time now = now_();
  require_linkable(registry_->facts_of(older, now), registry_->facts_of(newer, now));
  require_no_jobs(newer, registry_->at(newer).filter->jobs(), "ask an older one first");
  registry_->at(newer).older = {std::string(older), end_of_link(now, life)};
  registry_->askers.insert_or_assign(std::string(older), std::string(newer));
}

void memory_store::unlink(std::string_view newer) {
  const std::scoped_lock alone(registry_->lock);
  registry::entry& linked = registry_->at(newer);
  if (!linked.older) refuse_unlinked(newer);
  linked.older.reset();
}

bool memory_store::exists(std::string_view name) const {
  const std::scoped_lock alone(registry_->lock);
  const auto found = registry_->filters.find(name);
  return found != registry_->filters.end() && !found->second.filter->has_expired();
}

std::optional<std::uint64_t> memory_store::room_bytes() const {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

std::vector<std::string> memory_store::list() const {
  const std::scoped_lock alone(registry_->lock);
  std::vector<std::string> names;
  for (const auto& [name, entry] : registry_->filters)
    if (!entry.filter->has_expired()) names.push_back(name);
  return names;
}

void memory_store::drop(std::string_view name) {
  const std::scoped_lock alone(registry_->lock);
  (void)registry_->at(name);
  require_unasked(name, registry_->asked_by(name, now_()));
  registry_->erase(name);
}

void memory_store::rename(std::string_view from, std::string_view to, namesake there) {
  validate_filter_name(to);
  const std::scoped_lock alone(registry_->lock);
  const event_time now = now_();
  require_unlinked(registry_->facts_of(from, now));
  const auto other = registry_->filters.find(to);
  if (other != registry_->filters.end() && !other->second.filter->has_expired()) {
    if (there == namesake::refuse) throw filter_exists(to);
    if (from == to) return;
    require_unlinked(registry_->facts_of(to, now));
  }
  registry_->filters.insert_or_assign(std::string(to), std::move(registry_->at(from)));
  registry_->erase(from);
}

void memory_store::remove_expired() {
  const std::scoped_lock alone(registry_->lock);
  std::erase_if(registry_->filters, [](const auto& each) { return each.second.filter->has_expired(); });
  const event_time now = now_();
  std::erase_if(registry_->askers,
                [&](const auto& each) { return registry_->asked_by(each.first, now).empty(); });
}

void memory_store::reset(std::string_view name) {
  std::shared_ptr<embedded_filter> filter;
  {
    const std::scoped_lock alone(registry_->lock);
    filter = registry_->at(name).filter;
  }
  require_no_jobs(name, filter->jobs(), "be reset");
  filter->forget();
}

std::unique_ptr<store::restore> memory_store::begin_restore(std::string_view name, const spec& s) {
  validate_filter_name(name);
  if (exists(name)) throw filter_exists(name);
  return std::make_unique<restoring>(registry_, name, s, now_);
}

memory_store::registry::entry& memory_store::registry::at(std::string_view name) {
  const auto found = filters.find(name);
  if (found == filters.end()) throw no_such_filter(name);
  if (found->second.filter->has_expired()) throw filter_has_expired(name);
  return found->second;
}

void memory_store::registry::erase(std::string_view name) {
  filters.erase(filters.find(name));
  if (const auto asked = askers.find(name); asked != askers.end()) askers.erase(asked);
}

std::string memory_store::registry::asked_by(std::string_view name, event_time now) const {
  const auto known = askers.find(name);
  if (known == askers.end()) return {};
  const auto asker = filters.find(known->second);
  if (asker == filters.end()) return {};
  const auto& older = asker->second.older;
  return older && older->name == name && !older->is_over(now) ? asker->first : std::string();
}

link_facts memory_store::registry::facts_of(std::string_view name, event_time now) {
  const entry& one = at(name);
  const bool asks = one.older && !one.older->is_over(now);
  return {std::string(name), one.filter->get_spec().window.has_value(), asks ? one.older->name : "",
          asked_by(name, now)};
}

void memory_store::registry::insert(std::string_view name, std::shared_ptr<embedded_filter> filter) {
  validate_filter_name(name);
  const std::scoped_lock alone(lock);
  entry& place = filters[std::string(name)];
  if (place.filter && !place.filter->has_expired()) throw filter_exists(name);
  place = {std::move(filter)};
}

}  // namespace everseen
