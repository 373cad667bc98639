#include "everseen/cli/dedup/dedup_filter.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "everseen/cli/long_run/filter_options.hpp"
#include "everseen/cli/verb/attached_text.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/everseen.hpp"

namespace everseen::cli {

namespace {

/// The capacity if the size of the input is unknown. The filter grows from there; memory is touched as it
/// fills.
constexpr std::uint64_t capacity_of_a_stream = 4'000'000;
/// A small file may grow while it is read, or have lines of very different lengths; this costs 250 KB.
constexpr std::uint64_t least_capacity = 65'536;
/// A kept filter is created larger than its first input, which may be small: each further layer costs every
/// later key another look-up.
constexpr std::uint64_t least_capacity_of_a_kept_filter = 1'000'000;

spec_request request_for(const dedup_arguments& given, const block_reader& input) {
  spec_request request = request_of(given);
  const std::uint64_t estimate = input.estimate_records().value_or(capacity_of_a_stream);
  const std::uint64_t least = given.filter_name ? least_capacity_of_a_kept_filter : least_capacity;
  std::uint64_t capacity = given.capacity.value_or(std::max(estimate, least));
  // A line has at least one byte. Unusable capacity would only make the filter slower.
  if (const auto bytes = input.total_bytes(); bytes && !given.filter_name)
    capacity = std::min(capacity, *bytes + least_capacity);
  request.capacity = capacity;
  return request;
}

std::shared_ptr<store> store_of(const dedup_arguments& given) {
  const bool named = given.filter_name.has_value();
  if (given.store.url && *given.store.url != "mem:" && !named)
    throw parameter_error("--store keeps a filter by name; give --filter NAME, too");
  return named ? chosen_store(given.store) : open_store("mem:");
}

/// Refuses options that promise what a filter cannot keep whose keys are taken before their lines are
/// printed.
void must_allow_loss(const dedup_arguments& given) {
  if (given.output)
    throw parameter_error(
        "on servers a key must be taken before its line is printed, so --output cannot promise that no line "
        "is "
        "lost; redirect the output, as in > FILE, or use a job: everseen stream --job J --to FILE");
  if (given.on_crash == crash_effect::repeat)
    throw parameter_error(
        "on servers a key must be taken before its line is printed, as another run may have the same line; "
        "leave out --on-crash repeat, or use a job, which loses and repeats nothing: everseen stream --job");
}

/// Refuses options that need a window if there is none.
void must_have_window(const dedup_arguments& given, bool window) {
  if (window) return;
  if (given.records.time)
    throw parameter_error("a time is used only by a filter with a window; give --window, too");
  if (given.slices) throw parameter_error("--slices divides a window; give --window, too");
  if (given.late)
    throw parameter_error("--late is about lines that are older than the window; give --window, too");
}

}  // namespace

dedup_filter::dedup_filter(const dedup_arguments& given, const block_reader& input)
    : kept_(given.filter_name.has_value()), home_(store_of(given)) {
  if (kept_ && home_->traits().is_remote) must_allow_loss(given);  // before a filter is made
  make_or_open(given, input);
  if (!made_) must_agree(given, *home_, *seen_);
  must_have_window(given, seen_->get_spec().window.has_value());
}

/// Opening comes first: the loss of a filter is fatal there, and no new one may take its place.
void dedup_filter::make_or_open(const dedup_arguments& given, const block_reader& input) {
  const std::string name = given.filter_name.value_or("dedup");
  if (given.existing) {
    seen_.emplace(existing_filter(*home_, name));
    warn_of_lost_strings(*seen_);
    return;
  }
  if (kept_ && open(name)) return;
  must_have_window(given, given.window.has_value());
  try {
    const spec planned = home_->plan(request_for(given, input));
    must_have_room(*home_, planned);
    seen_.emplace(name, home_->create(name, planned));
    made_ = true;
  } catch (const name_taken&) {  // another process was faster
    seen_.emplace(name, home_->open(name, access::write));
  }
  if (kept_) warn_of(*home_);
}

/// @return false  the name is free
bool dedup_filter::open(const std::string& name) {
  try {
    seen_.emplace(name, home_->open(name, access::write));
    warn_of_lost_strings(*seen_);
    return true;
  } catch (const filter_expired&) {
    fmt::print(stderr,
               "everseen: the filter {} has expired; a new one begins, which does not expire "
               "(everseen create --expire makes one that does)\n",
               quoted_name(name));
  } catch (const no_filter&) {
  }
  return false;
}

unsigned dedup_filter::useful_threads() const {
  const unsigned cores = std::thread::hardware_concurrency();
  const std::uint32_t partitions = seen_->stored().batch_partitions();
  return home_->traits().is_remote ? useful_remote_dedup_threads(cores, partitions)
                                   : useful_dedup_threads(cores, partitions);
}

dedup_options::adding_order dedup_filter::adding_of(const dedup_arguments& given) const {
  using order = dedup_options::adding_order;
  const bool adds_after = seen_->stored().adds_after_effects();
  if (kept_ && !adds_after) must_allow_loss(given);
  if (!kept_ || given.judge_ahead) return order::ahead;
  if (!adds_after || given.on_crash == crash_effect::lose) return order::before_block;
  return order::after_block;
}

void dedup_filter::discard_if_unused() noexcept {
  if (!kept_ || !made_ || home_->traits().is_remote) return;
  try {
    if (seen_->info().keys > 0) return;
    const std::string name = seen_->name();
    seen_.reset();  // a filter that is open for writing cannot be dropped
    home_->drop(name);
  } catch (const error&) {  // the original error is reported
  }
}

}  // namespace everseen::cli
