#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/verdict.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen {

/// A range of keys: its elements convert to std::string_view. Spans of views need no conversion and have
/// their own overloads.
template <typename Range>
concept key_range = std::ranges::input_range<Range> &&
    std::convertible_to<std::ranges::range_reference_t<Range>, std::string_view> &&
    !std::convertible_to<Range, std::span<const std::string_view>>;

/// The keys of a range as a span of views, valid as long as both live.
class key_views {
 public:
  template <key_range Keys>
  explicit key_views(Keys& keys) {
    using key = std::ranges::range_reference_t<Keys>;
    if constexpr (std::ranges::sized_range<Keys>) views_.reserve(std::ranges::size(keys));
    if constexpr (std::ranges::forward_range<Keys> && outlives_its_iterator<key>) {
      for (auto&& one : keys) views_.emplace_back(static_cast<std::string_view>(one));
    } else {
      for (auto&& one : keys) made_.emplace_back(static_cast<std::string_view>(one));
      views_.assign(made_.begin(), made_.end());
    }
  }

  [[nodiscard]] std::span<const std::string_view> all() const noexcept { return views_; }

 private:
  /// Whether a key stays where it is: an object of the range itself, a view or a pointer.
  template <typename Key>
  static constexpr bool outlives_its_iterator =
      std::is_lvalue_reference_v<Key> || std::is_pointer_v<std::remove_cvref_t<Key>> ||
      std::same_as<std::remove_cvref_t<Key>, std::string_view>;

  std::vector<std::string> made_{};
  std::vector<std::string_view> views_{};
};

/// The current state of a filter.
struct filter_info {
  std::string name;
  everseen::spec spec;
  std::uint64_t keys = 0;   ///< keys that were added and have not expired
  std::uint64_t bytes = 0;  ///< of all segments
  std::uint64_t segments = 0;
  std::uint32_t max_layers = 0;    ///< of the slice with the most layers
  double error_rate_now = 0;       ///< probability that a key never added is called seen now
  double expected_false_seen = 0;  ///< fresh keys called seen, expected over the keys still remembered
  std::vector<partition_state> partitions;
  std::vector<double> partition_rates;  ///< per partition: its error_rate_now
  std::vector<std::string> places;      ///< per partition: the server that has it; empty: this machine
};

/// A named filter: the answer to *has this key ever been seen?*
///
/// This is a handle: copies refer to the same filter. Prefer the functions for many keys: they cost 5 to 30
/// ns per key, a call with a single key about 100 ns.
///
/// Threads: any number may share one handle, or use several handles of one filter. If several threads add the
/// same key, exactly one gets `fresh`. A key is any sequence of bytes, of any length, including zero.
///
/// A filter with a window needs the time of each key, or one time for a whole batch. No function takes it
/// from the clock: a call without a time is a parameter_error. So is a call with a time further ahead of the
/// clock than window::most_ahead(), of which no key is judged: one such time would make the keys of today
/// late, for everybody (window::must_be_plausible).
class filter {
 public:
  /// @param clock  for the rule about times ahead; simulations and tests pass their own
  filter(std::string name, std::shared_ptr<stored_filter> stored, time_source clock = wall_clock);

  /// Adds a key and returns whether it was fresh.
  /// @param when  the time of the key: required with a window, else ignored
  /// @return `fresh` is certain; `seen` errs at most at get_spec().error_rate; `late` only with a window
  /// @throws parameter_error  the filter cannot take such a key (see refusal_of)
  /// @throws full_error     the filter is full and was created without growth
  /// @throws storage_error, backend_error  the key was not added, unless the message says that it may have
  ///   been; calling again is safe
  verdict add(std::string_view key);
  verdict add(std::string_view key, event_time when);

  /// Adds many keys. If a key occurs twice, the first occurrence is the fresh one.
  ///
  /// Keys that the filter cannot take (see refusal_of) or has no room for are `unknown`; all others are
  /// judged. After any other failure the rest of the span is `unknown`. Adding the unknown keys again is
  /// safe.
  /// @param out    one verdict per key, in the same order
  /// @param times  none, one for all, or one per key
  /// @return the number of keys per verdict; after a failure see batch_failure (`out` is still valid)
  /// @throws parameter_error  the number of verdicts or times is wrong, or a window needs times; nothing was
  ///   added
  [[nodiscard]] batch_result add(std::span<const std::string_view> keys, std::span<verdict> out,
                                 std::span<const event_time> times = {});

  /// The same for any range of keys, such as a std::vector<std::string> or a view that produces strings.
  ///
  ///     std::vector<everseen::verdict> verdicts(urls.size());
  ///     const auto added = filter.add(urls, verdicts);
  ///
  /// Cost: a std::string_view per key. A range that produces its strings is read once, and they are copied.
  template <key_range Keys>
  [[nodiscard]] batch_result add(Keys&& keys, std::span<verdict> out,
                                 std::span<const event_time> times = {}) {
    const key_views viewed(keys);
    return add(viewed.all(), out, times);
  }

  /// Returns whether a key was probably added before. `false` is certain. With a window it is certain only
  /// for keys that have not expired; for a time before the window the answer is always `false`.
  /// @throws  as add
  [[nodiscard]] bool may_contain(std::string_view key) const;
  [[nodiscard]] bool may_contain(std::string_view key, event_time when) const;

  /// The same for many keys: `seen` if the filter may contain the key, `fresh` if it certainly does not.
  /// Changes nothing.
  [[nodiscard]] batch_result may_contain(std::span<const std::string_view> keys, std::span<verdict> out,
                                         std::span<const event_time> times = {}) const;
  template <key_range Keys>
  [[nodiscard]] batch_result may_contain(Keys&& keys, std::span<verdict> out,
                                         std::span<const event_time> times = {}) const {
    const key_views viewed(keys);
    return may_contain(viewed.all(), out, times);
  }

  /// add() and may_contain() for callers that have already hashed the keys with hash().
  /// @throws parameter_error  the filter needs the keys themselves: stored().wants_keys()
  [[nodiscard]] batch_result add_digests(std::span<const digest> digests, std::span<verdict> out,
                                         std::span<const event_time> times = {});
  [[nodiscard]] batch_result may_contain_digests(std::span<const digest> digests, std::span<verdict> out,
                                                 std::span<const event_time> times = {}) const;

  /// Adds all keys of siblings, which are filters with the same properties and the same secret seed: made
  /// from its export, or by `everseen create --like`. Afterwards every key of all is `seen` here, except
  /// those that the window has left. The siblings do not change, and may be in other stores.
  ///
  /// Partition by partition, so other threads see some keys earlier than others. Merging again adds what an
  /// interrupted call has left out, and what the siblings have got since.
  /// @throws parameter_error  they are no siblings; one of them asks an older filter first; or this filter
  ///   cannot do it: it was opened for reading, or belongs to another program. Nothing was added
  /// @throws full_error  together they have more keys than a layer may have within the error rate. Unless
  ///   others add keys meanwhile, nothing was added. With a code: there is no room for a layer; some keys may
  ///   have been added
  /// @throws storage_error, backend_error  some keys may have been added; merge again
  /// Cost: 2 to 5 ns per byte of the siblings; one partition of each is copied at a time.
  void merge(std::span<const filter> siblings);
  /// Throws as merge() would, and changes nothing.
  void must_fit(std::span<const filter> siblings) const;

  /// The beginning of the newest slice of any partition: keys with an earlier time may be late. Nothing
  /// without a window, or before the first key.    Cost: on servers, a round trip for each partition
  /// @throws storage_error, backend_error, format_error
  [[nodiscard]] std::optional<event_time> newest_slice() const;

  /// The spec with which a store creates a sibling of this filter. It has the secret seed, so keep it as safe
  /// as the filter.
  /// @throws parameter_error  there is none: the filter belongs to another program, or the server of it has
  ///   left the seed out, which it shows to users with the right `admin` alone
  [[nodiscard]] spec sibling_spec() const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const spec& get_spec() const noexcept { return stored_->get_spec(); }
  [[nodiscard]] const hasher& hash() const noexcept { return hash_; }

  /// The reason, as readable text, why the filter can never take a key; nothing if it can. The filters of
  /// everseen and RedisBloom take any key, over a server up to a length. A Guava filter of numbers cannot
  /// take a word.
  [[nodiscard]] std::optional<std::string> refusal_of(std::string_view key) const;

  /// The rule about times ahead of the clock, for callers that judge keys through stored() or a ledger.
  /// Without a window, times have no effect and pass.
  /// @throws parameter_error  a time is too far ahead
  void must_accept(std::span<const event_time> times) const;

  /// The current state of the filter.
  /// @throws storage_error, backend_error, format_error
  /// Cost: one look-up per partition, on servers a round trip each; only attached filters read bits, and
  /// overfilled ones of at most 64 MiB.
  [[nodiscard]] filter_info info() const;

  /// Returns once everything acknowledged so far survives a power loss. Does nothing on Redis, whose
  /// configuration decides.
  /// @throws storage_error  the disk failed
  void sync() { stored_->sync(); }

  /// The underlying port, for pipelines that address partitions themselves.
  [[nodiscard]] stored_filter& stored() const noexcept { return *stored_; }

 private:
  void must_not_want_keys() const;

  std::string name_;
  std::shared_ptr<stored_filter> stored_;
  hasher hash_;
  time_source clock_;
};

/// Opens the filter of this name, or creates it as requested. Idempotent: processes that call this
/// concurrently or repeatedly all get the same filter. (A filter in files can be open for writing in only one
/// process at a time.)
///
/// Values that the request leaves empty are not compared, so an empty request accepts any filter.
/// @param life  a new filter expires after this time; nothing: never
/// @throws parameter_error  the filter was created with other options than requested; the message names each
///   difference (see differences). A rebuild may also have changed its capacity and error rate.
/// @throws  as store::create and open
[[nodiscard]] filter open_or_create(store& in, std::string_view name, const spec_request& request = {},
                                    std::optional<std::chrono::milliseconds> life = {});

/// @throws parameter_error  as open_or_create
void must_agree(const spec_request& request, const filter& f);

/// Opens an existing filter.
/// @param mode  in files, one process at a time can write to a filter, and any number can read it
/// @throws no_filter        no filter has this name: the message has the nearest one; filter_expired: it has
///   expired
/// @throws format_error     it is damaged    @throws backend_error  a server does not answer
/// @throws storage_error    another process is writing to it, or it cannot be read
[[nodiscard]] filter open(store& in, std::string_view name, access mode = access::write);

}  // namespace everseen
