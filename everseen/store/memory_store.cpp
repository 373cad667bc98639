#include "everseen/store/memory_store.hpp"

#include <algorithm>

#include <unistd.h>

#include "everseen/store/embedded_filter.hpp"
#include "everseen/store/linking.hpp"
#include "everseen/store/memory_segments.hpp"
#include "everseen/store/recovered_keys.hpp"

namespace everseen {

namespace {

/// An embedded filter that owns its memory. The bits are a base class, so that they exist before the logic
/// that refers to them and outlive it.
class memory_filter : private memory_segments, public embedded_filter {
 public:
  explicit memory_filter(const spec& s) : memory_filter(s, memory_segments(s.partitions), {}) {}
  memory_filter(const spec& s, memory_segments bits, std::vector<partition_state> states)
      : memory_segments(std::move(bits)),
        embedded_filter(s, static_cast<memory_segments&>(*this), std::move(states)) {}

  void sync() override {}  // memory promises nothing beyond the process
};

}  // namespace

/// Segments gathered aside until they are all there.
class memory_store::restoring : public store::restore {
 public:
  restoring(std::shared_ptr<shelf> into, std::string_view name, const spec& s)
      : into_(std::move(into)), name_(name), spec_(s), bits_(s.partitions), states_(s.partitions) {}

  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) override {
    restore_layer(states_.at(id.partition), id, layer);
    bits_.create(id, layer.shape, layer.capacity);
    bits_.note_keys(id, layer.keys);
    return {bits_.at(id), layer.shape.bytes};
  }

  void commit() override {
    // The copy may have been taken beside a writer, so that counts lag behind the bits.
    for (std::uint32_t p = 0; p < spec_.partitions; ++p)
      for (slice_state& slice : states_[p].slices)
        for (std::uint32_t i = 0; i < slice.layers.size(); ++i) {
          layer_state& layer = slice.layers[i];
          const std::byte* const bits = bits_.at({p, slice.index, i});
          layer.keys = recovered_keys(layer.keys, layer.shape, {bits, layer.shape.bytes});
        }
    into_->insert(name_, std::make_shared<memory_filter>(spec_, std::move(bits_), std::move(states_)));
  }

 private:
  std::shared_ptr<shelf> into_;
  std::string name_;
  spec spec_;
  memory_segments bits_;
  std::vector<partition_state> states_;
};

memory_store::memory_store(time_source now) : now_(std::move(now)) {}

std::shared_ptr<stored_filter> memory_store::create(std::string_view name, const spec& s) {
  auto filter = std::make_shared<memory_filter>(s);
  shelf_->insert(name, filter);
  return filter;
}

std::shared_ptr<stored_filter> memory_store::open(std::string_view name, access /*how*/) {
  const std::scoped_lock alone(shelf_->lock);
  const shelf::entry& newer = shelf_->at(name);
  if (!newer.older || newer.older->is_over(now_())) return newer.filter;
  return open_linked(
      name, *newer.older, now_, [&] { return shelf_->at(newer.older->name).filter; },
      [&] { return newer.filter; });
}

void memory_store::link(std::string_view older, std::string_view newer,
                        std::optional<std::chrono::milliseconds> life) {
  const std::scoped_lock alone(shelf_->lock);
  const event_time now = now_();
  require_linkable(shelf_->facts_of(older, now), shelf_->facts_of(newer, now));
  require_no_jobs(newer, shelf_->at(newer).filter->jobs(), "ask an older one first");
  shelf_->at(newer).older = {std::string(older), end_of_link(now, life)};
}

void memory_store::unlink(std::string_view newer) {
  const std::scoped_lock alone(shelf_->lock);
  shelf::entry& linked = shelf_->at(newer);
  if (!linked.older) refuse_unlinked(newer);
  linked.older.reset();
}

bool memory_store::exists(std::string_view name) const {
  const std::scoped_lock alone(shelf_->lock);
  return shelf_->filters.find(name) != shelf_->filters.end();
}

std::optional<std::uint64_t> memory_store::room_bytes() const {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

std::vector<std::string> memory_store::list() const {
  const std::scoped_lock alone(shelf_->lock);
  std::vector<std::string> names;
  for (const auto& [name, entry] : shelf_->filters) names.push_back(name);
  return names;
}

void memory_store::drop(std::string_view name) {
  const std::scoped_lock alone(shelf_->lock);
  (void)shelf_->at(name);
  require_unasked(name, shelf_->asked_by(name, now_()));
  shelf_->filters.erase(shelf_->filters.find(name));
}

void memory_store::reset(std::string_view name) {
  std::shared_ptr<embedded_filter> filter;
  {
    const std::scoped_lock alone(shelf_->lock);
    filter = shelf_->at(name).filter;
  }
  require_no_jobs(name, filter->jobs(), "be reset");
  filter->forget();
}

std::unique_ptr<store::restore> memory_store::begin_restore(std::string_view name, const spec& s) {
  validate_filter_name(name);
  if (exists(name)) throw filter_exists(name);
  return std::make_unique<restoring>(shelf_, name, s);
}

memory_store::shelf::entry& memory_store::shelf::at(std::string_view name) {
  const auto found = filters.find(name);
  if (found == filters.end()) throw no_such_filter(name);
  return found->second;
}

std::string memory_store::shelf::asked_by(std::string_view name, event_time now) const {
  for (const auto& [other, each] : filters)
    if (each.older && each.older->name == name && !each.older->is_over(now)) return other;
  return {};
}

link_facts memory_store::shelf::facts_of(std::string_view name, event_time now) {
  const entry& one = at(name);
  const bool asks = one.older && !one.older->is_over(now);
  return {std::string(name), one.filter->get_spec().window.has_value(), asks ? one.older->name : "",
          asked_by(name, now)};
}

void memory_store::shelf::insert(std::string_view name, std::shared_ptr<embedded_filter> filter) {
  validate_filter_name(name);
  const std::scoped_lock alone(lock);
  if (!filters.try_emplace(std::string(name), entry{std::move(filter)}).second) throw filter_exists(name);
}

}  // namespace everseen
