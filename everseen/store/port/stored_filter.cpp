#include "everseen/store/port/stored_filter.hpp"

#include <map>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen {

batch_result stored_filter::add_after(std::span<const partition_batch> /*batches*/,
                                      const std::function<bool()>& /*effect*/) {
  throw parameter_error(
      "this filter may have other writers, so a key must be taken before anything is done for it");
}

namespace {

/// Refuses to merge into a filter.
[[noreturn]] void refuse_siblings() {
  throw parameter_error(
      "nothing can be merged into this filter: it was opened for reading, or another program keeps it; open "
      "it for writing, or merge into another one");
}

/// A partition whose bits are kept elsewhere.
class copied_partition final : public segments {
 public:
  copied_partition(const stored_filter& f, std::uint32_t number) {
    f.visit_segments(number,
                     [this](const segment_id& id, const layer_state& layer, std::span<const std::byte> bits) {
                       restore_layer(state_, id, layer);
                       bits_[id].assign(bits.begin(), bits.end());
                     });
  }

  [[nodiscard]] const partition_state& state() const noexcept { return state_; }
  [[nodiscard]] std::byte* at(const segment_id& id) const noexcept override { return bits_.at(id).data(); }
  void create(const segment_id&, const geometry&, std::uint64_t) override {}
  void drop_before(std::uint32_t, window::slice_index) override {}
  void note_keys(const segment_id&, std::uint64_t) noexcept override {}

 private:
  partition_state state_;
  mutable std::map<segment_id, std::vector<std::byte>> bits_;
};

}  // namespace

void stored_filter::must_fit(const sibling_source& /*siblings*/) const {
  refuse_siblings();
}

void stored_filter::merge(const sibling_source& /*siblings*/) {
  refuse_siblings();
}

void stored_filter::must_fit_in_copy(const sibling_source& siblings) const {
  for (std::uint32_t p = 0; p < get_spec().partitions; ++p)
    siblings(p, [&](std::span<const sibling_segment> theirs) {
      copied_partition mine(*this, p);
      partition(get_spec(), p, mine, mine.state()).must_fit(theirs);
    });
}

std::unique_ptr<ledger> stored_filter::open_ledger(std::string_view job,
                                                   std::optional<std::string_view> description) {
  if (!description) return nullptr;
  throw parameter_error("the job " + quoted_name(job) +
                        " cannot be kept here: this filter has no jobs; give the job a filter "
                        "of everseen's own, in a store of its own kind");
}

}  // namespace everseen
