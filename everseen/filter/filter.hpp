#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/digest.hpp"
#include "everseen/core/error.hpp"
#include "everseen/core/spec.hpp"
#include "everseen/core/verdict.hpp"
#include "everseen/store/store.hpp"

namespace everseen {

/// What there is to know about a filter now.
struct filter_info {
  std::string name;
  everseen::spec spec;
  std::uint64_t keys = 0;   ///< added and still remembered
  std::uint64_t bytes = 0;  ///< of all segments
  std::uint64_t segments = 0;
  std::uint32_t max_layers = 0;    ///< in the slice that grew most
  double error_rate_now = 0;       ///< chance that a key never added is called seen at this moment
  double expected_false_seen = 0;  ///< fresh keys probably called seen while what is remembered was added
  std::vector<partition_state> partitions;
  std::vector<std::string> places;    ///< one a partition: the server that has it; empty: this machine
  std::optional<event_time> ends_at;  ///< when the filter ends by itself
};

/// A named filter: the answer to *has this key ever been seen?*
///
/// A handle: copies refer to the same filter. Prefer the span functions, which cost 5 to 30 ns a key where a
/// single call costs about 100; a single key is a batch of one.
///
/// Threads: any number may use one handle, or several handles of one filter, at once; of many that add the
/// same key exactly one gets `fresh`. Keys are any bytes, of any length, also none.
///
/// A filter with a window needs to be told the time of each key (or one time for a whole batch); nothing here
/// reads a clock. Calling it without is a parameter_error.
class filter {
 public:
  filter(std::string name, std::shared_ptr<stored_filter> stored);

  /// Marks a key as seen and says whether it was fresh.
  /// @throws parameter_error  the filter cannot take such a key: refusal_of
  /// @return `fresh` is certain; `seen` errs at most at get_spec().error_rate; `late` only with a window
  /// @throws full_error     no room, and the filter was created without growth
  /// @throws storage_error, backend_error  not added; calling again is safe
  verdict add(std::string_view key);
  verdict add(std::string_view key, event_time when);

  /// Marks many keys. Of a key that occurs twice the first is the fresh one.
  ///
  /// A key that the filter cannot take (refusal_of) and one for which there is no room are unknown, and all
  /// others are judged. After any other failure all that follows in the span is unknown, so that adding the
  /// unknown ones again is right.
  /// @param times  nothing, one for all, or one a key      @pre out.size() == keys.size()
  /// @return how many got which verdict; on failure see batch_failure, `out` is valid then too
  /// @throws parameter_error  a window and no times, or a wrong number of them; nothing was added
  batch_result add(std::span<const std::string_view> keys, std::span<verdict> out,
                   std::span<const event_time> times = {});

  /// Whether a key was probably added before. `false` is certain, but with a window only about what that
  /// still remembers: it is the answer for every time before the window, too.
  [[nodiscard]] bool may_contain(std::string_view key) const;
  [[nodiscard]] bool may_contain(std::string_view key, event_time when) const;

  /// The same for many keys: `seen` where the filter may contain the key, `fresh` where it certainly does
  /// not. Changes nothing.
  batch_result may_contain(std::span<const std::string_view> keys, std::span<verdict> out,
                           std::span<const event_time> times = {}) const;

  /// As above, for callers that hashed already with hash().
  /// @throws parameter_error  the filter makes its own hashes: stored().wants_keys()
  batch_result add_digests(std::span<const digest> digests, std::span<verdict> out,
                           std::span<const event_time> times = {});
  batch_result may_contain_digests(std::span<const digest> digests, std::span<verdict> out,
                                   std::span<const event_time> times = {}) const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const spec& get_spec() const noexcept { return stored_->get_spec(); }
  [[nodiscard]] const hasher& hash() const noexcept { return hash_; }

  /// Why the filter can never take a key, for people to read; nothing where it can, as everseen's own filters
  /// and those of RedisBloom always do. One of Guava whose keys are numbers cannot take a word.
  [[nodiscard]] std::optional<std::string> refusal_of(std::string_view key) const {
    return hash_.refusal_of(key);
  }

  /// Cost: a look at every partition; nothing is read from the bits.
  [[nodiscard]] filter_info info() const;

  /// Makes all that was acknowledged survive a power loss.
  /// @throws storage_error  the disk refused
  void sync() { stored_->sync(); }

  /// The port below, for pipelines that address partitions themselves.
  [[nodiscard]] stored_filter& stored() const noexcept { return *stored_; }

 private:
  void must_not_want_keys() const;

  std::string name_;
  std::shared_ptr<stored_filter> stored_;
  hasher hash_;
};

/// A new filter in the store at `store_url` (see open_store).
///
///     auto clicks = everseen::create("file:/var/lib/everseen", "clicks", {.capacity = 10'000'000});
///     if (clicks.add(event_id) == everseen::verdict::fresh) count(event);
///
/// @throws parameter_error  the request makes no sense, or the name is taken    @throws storage_error
[[nodiscard]] filter create(std::string_view store_url, std::string_view name,
                            const spec_request& request = {});

/// The filter of this name, made first if there is none. Of many processes that call this at once all get the
/// same.
/// @throws  as create and open
[[nodiscard]] filter open_or_create(store& in, std::string_view name, const spec_request& request);

/// A filter that exists.
/// @throws parameter_error  there is none of this name    @throws format_error  it is damaged
/// @throws storage_error    another process writes to it, or it cannot be read
[[nodiscard]] filter open(std::string_view store_url, std::string_view name, access how = access::write);

}  // namespace everseen
