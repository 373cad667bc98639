#include "everseen/store/memory/memory_store.hpp"

#include <algorithm>

#include <unistd.h>

#include "everseen/core/base/names.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/store/embedded/embedded_filter.hpp"
#include "everseen/store/link/linked_filter.hpp"
#include "everseen/store/memory/memory_segments.hpp"

namespace everseen {

namespace {

/// An embedded filter that owns its memory. The bits are a base class, so that they are constructed before
/// the logic that refers to them, and destroyed after it.
class memory_filter : private memory_segments, public embedded_filter {
 public:
  memory_filter(const spec& s, time_source clock, std::optional<event_time> end)
      : memory_filter(s, memory_segments(s.partitions), {}, std::move(clock), end) {}
  memory_filter(const spec& s, memory_segments bits, std::vector<partition_state> states, time_source clock,
                std::optional<event_time> end = {})
      : memory_segments(std::move(bits)),
        embedded_filter(s, static_cast<memory_segments&>(*this), std::move(states), std::move(clock), end) {}

  [[nodiscard]] bool is_rebuildable() const noexcept override { return false; }
  void sync() override {}  // memory does not outlive the process
};

}  // namespace

/// Collects segments until the filter is complete.
class memory_store::restoring : public store::restore {
 public:
  restoring(std::shared_ptr<registry> into, std::string_view name, const spec& s, time_source clock)
      : into_(std::move(into)),
        name_(name),
        spec_(s),
        clock_(std::move(clock)),
        bits_(s.partitions),
        states_(s.partitions) {}

  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) override {
    restore_layer(states_.at(id.partition), id, layer);
    bits_.create(id, layer.shape, layer.capacity);
    bits_.expect_keys(id, layer.keys);
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
    into_->insert(name_,
                  std::make_shared<memory_filter>(spec_, std::move(bits_), std::move(states_), clock_));
  }

 private:
  std::shared_ptr<registry> into_;
  std::string name_;
  spec spec_;
  time_source clock_;
  memory_segments bits_;
  std::vector<partition_state> states_;
};

memory_store::memory_store(time_source clock) : clock_(std::move(clock)) {}

std::shared_ptr<stored_filter> memory_store::create(std::string_view name, const spec& s,
                                                    std::optional<std::chrono::milliseconds> life) {
  std::optional<event_time> end;
  if (life) end = end_after(clock_(), *life);
  auto filter = std::make_shared<memory_filter>(s, clock_, end);
  registry_->insert(name, filter);
  return filter;
}

/// Whatever is done to a filter by its name is done before it has another one: else a reset that began before
/// a rename would take keys that were added after it.
template <typename Act>
auto memory_store::with_filter(std::string_view name, Act act) const {
  const std::scoped_lock alone(registry_->lock);
  return act(*registry_->at(name));
}

filter_facts memory_store::facts(std::string_view name) const {
  return with_filter(name, [](const embedded_filter& f) { return filter_facts{f.expires_at(), {}}; });
}

void memory_store::expire_at(std::string_view name, std::optional<event_time> when) {
  with_filter(name, [when](embedded_filter& f) { f.expire_at(when); });
}

std::vector<std::string> memory_store::jobs(std::string_view name) const {
  return with_filter(name, [](const embedded_filter& f) { return f.jobs(); });
}

void memory_store::end_job(std::string_view name, std::string_view job) {
  with_filter(name, [&](embedded_filter& f) {
    if (!f.end_job(job)) throw no_such_job(name, job);
  });
}

std::shared_ptr<stored_filter> memory_store::open(std::string_view name, access /*how*/) {
  const std::scoped_lock alone(registry_->lock);
  const auto& newer = registry_->at(name);
  const auto link = registry_->links.find(name);
  if (link == registry_->links.end() || link->second.is_over(clock_())) return newer;
  return open_linked(
      name, link->second, clock_, [&] { return registry_->at(link->second.name); }, [&] { return newer; });
}

void memory_store::link(std::string_view older, std::string_view newer,
                        std::optional<std::chrono::milliseconds> life) {
  const std::scoped_lock alone(registry_->lock);
  const event_time current_time = clock_();
  const auto &old = registry_->at(older), &next = registry_->at(newer);
  require_linkable(registry_->live_links(current_time), {older, old->get_spec()}, {newer, next->get_spec()});
  require_no_jobs(newer, next->jobs(), "ask an older one first");
  registry_->links.insert_or_assign(std::string(newer),
                                    predecessor{std::string(older), end_of_link(current_time, life)});
}

void memory_store::unlink(std::string_view newer) {
  const std::scoped_lock alone(registry_->lock);
  (void)registry_->at(newer);
  if (!asked_first(registry_->live_links(clock_()), newer)) refuse_unlinked(newer);
  registry_->links.erase(std::string(newer));
}

bool memory_store::exists(std::string_view name) const {
  const std::scoped_lock alone(registry_->lock);
  const auto found = registry_->filters.find(name);
  return found != registry_->filters.end() && !found->second->has_expired();
}

store_traits memory_store::traits() const {
  store_traits mine;
  mine.is_memory = true;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0)
    mine.room_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  return mine;
}

std::vector<std::string> memory_store::list() const {
  const std::scoped_lock alone(registry_->lock);
  std::vector<std::string> names;
  for (const auto& [name, filter] : registry_->filters)
    if (!filter->has_expired()) names.push_back(name);
  return names;
}

void memory_store::drop(std::string_view name) {
  const std::scoped_lock alone(registry_->lock);
  (void)registry_->at(name);
  require_unasked(registry_->live_links(clock_()), name);
  registry_->erase(name);
}

void memory_store::rename(std::string_view from, std::string_view new_name, namesake there) {
  validate_filter_name(new_name);
  const std::scoped_lock alone(registry_->lock);
  const auto moved = registry_->at(from);
  const filter_links links = registry_->live_links(clock_());
  require_unlinked(links, from);
  const auto other = registry_->filters.find(new_name);
  if (other != registry_->filters.end() && !other->second->has_expired()) {
    if (there == namesake::refuse) throw filter_exists(new_name);
    if (from == new_name) return;
    require_unlinked(links, new_name);
  }
  registry_->erase(from);
  registry_->erase(new_name);
  registry_->filters.emplace(new_name, moved);
}

void memory_store::remove_expired() {
  const std::scoped_lock alone(registry_->lock);
  std::erase_if(registry_->filters, [](const auto& each) { return each.second->has_expired(); });
  std::erase_if(registry_->links, [&](const auto& each) { return !registry_->filters.contains(each.first); });
}

void memory_store::reset(std::string_view name) {
  with_filter(name, [name](embedded_filter& f) {
    require_no_jobs(name, f.jobs(), "be reset");
    f.forget();
  });
}

std::unique_ptr<store::restore> memory_store::begin_restore(std::string_view name, const spec& s) {
  validate_filter_name(name);
  if (exists(name)) throw filter_exists(name);
  return std::make_unique<restoring>(registry_, name, s, clock_);
}

std::unique_ptr<store::rebuild> memory_store::begin_rebuild(std::string_view name, const spec& /*s*/,
                                                            std::span<const partition_state> /*base*/) {
  if (!exists(name)) throw no_such_filter(name);
  throw parameter_error(quoted_name(name) +
                        " cannot be rebuilt: it lives in memory. Create another one and add the keys");
}

const std::shared_ptr<embedded_filter>& memory_store::registry::at(std::string_view name) const {
  const auto found = filters.find(name);
  if (found == filters.end()) throw no_such_filter(name);
  if (found->second->has_expired()) throw filter_has_expired(name);
  return found->second;
}

void memory_store::registry::erase(std::string_view name) {
  filters.erase(std::string(name));
  links.erase(std::string(name));
}

filter_links memory_store::registry::live_links(event_time current_time) const {
  filter_links live;
  for (const auto& [newer, older] : links)
    if (!older.is_over(current_time) && !filters.at(newer)->has_expired()) live.push_back({newer, older});
  return live;
}

void memory_store::registry::insert(std::string_view name, std::shared_ptr<embedded_filter> filter) {
  validate_filter_name(name);
  const std::scoped_lock alone(lock);
  if (const auto there = filters.find(name); there != filters.end() && !there->second->has_expired())
    throw filter_exists(name);
  erase(name);
  filters.emplace(name, std::move(filter));
}

}  // namespace everseen
