#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "everseen/filter/filter.hpp"

namespace everseen::cli {

/// A filter that is dropped at the end of its scope, or, if that fails, expires an hour after its last use.
class bench_filter {
 public:
  bench_filter(store& place, const spec_request& request);
  ~bench_filter();
  bench_filter(const bench_filter&) = delete;
  bench_filter& operator=(const bench_filter&) = delete;

  /// Extends its life to an hour from now, by the clock of its store, which may differ from this machine's.
  void stay();

  [[nodiscard]] filter& operator*() const noexcept { return *filter_; }
  [[nodiscard]] filter* operator->() const noexcept { return filter_.get(); }

 private:
  store& place_;
  const std::string name_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::unique_ptr<filter> filter_;
};

/// Keys by their numbers.
struct key_range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Keys of one call: a block of `dedup`.
inline constexpr std::size_t bench_batch_keys = 50'000;

tally add(filter& target, key_range keys, std::size_t at_once = bench_batch_keys);
tally look_up(const filter& in, key_range keys);

/// Fresh keys may be called seen at the filter's rate; five standard deviations are allowed.
/// @throws format_error  more of them were
void must_be_fresh(const tally& got, std::uint64_t keys, double rate);
/// @throws format_error  not all of them were seen
void must_be_seen(const tally& got, std::uint64_t keys);

}  // namespace everseen::cli
