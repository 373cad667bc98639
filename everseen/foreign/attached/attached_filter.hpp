#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/foreign/attached/attached_task.hpp"
#include "everseen/foreign/attached/attachment.hpp"
#include "everseen/foreign/attached/bitmaps.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen::foreign {

/// @throws parameter_error  commands= names commands that this filter cannot be used by
void require_commands(const redis::redis_url& url, const attachment& a);

/// A filter that another program keeps, with that program's hashes, names and rules. Both use it at the same
/// time, and each sees the other's keys.
///
/// Only bits are written to its strings, and only the steps of its own growth rule to its cursor. There is no
/// count of keys; the fill is estimated from the set bits.
///
/// To callers it is one partition; several strings and servers are handled here.
class attached_filter final : public stored_filter {
 public:
  /// @param own  prefix of all keys that everseen keeps for it
  attached_filter(std::shared_ptr<redis::connection_pool> pool, attachment a, std::string own, access mode);

  [[nodiscard]] const spec& get_spec() const noexcept override { return spec_; }
  [[nodiscard]] bool wants_keys() const noexcept override { return true; }
  /// @throws parameter_error  the funnel cannot read a key; no key of the batch was added
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  /// One layer for each string of a chain; the strings of shards, which are all alike, count as one. Reads
  /// all bits, on their servers. For more than a megabyte the result is cached, one second per 8 MiB, which
  /// limits the load on the servers to about 1 % however often this is called.
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  [[nodiscard]] bool estimates_keys() const noexcept override { return true; }
  /// Each string is a layer, as long as it is: Redis omits the zeros after the last bit.
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  void sync() override {}
  [[nodiscard]] batch_path path() const override;

  [[nodiscard]] const attachment& what() const noexcept { return names_.target; }

  /// @throws  as foreign::survey
  [[nodiscard]] std::vector<bitmap> survey() const;
  /// The same without reading bits: `set_bits` is 0.    Cost: one command for each string.
  [[nodiscard]] std::vector<bitmap> strings() const;

  /// The bytes of a string, a page at a time.    @throws  as foreign::survey
  void read_string(const bitmap_place& place, const std::function<void(std::string_view)>& take) const;

  /// The number of keys that would set this many bits of a string, by the formula.
  [[nodiscard]] double estimated_keys(std::uint64_t set_bits) const;
  /// The current chance that a key never added is called seen, from the share of set bits.
  [[nodiscard]] double error_rate_now(const std::vector<bitmap>& all) const;
  /// Concerns about the filter, one sentence each: hashes that are worse than the formula, a number of bits
  /// that does not fit the strings.
  [[nodiscard]] std::vector<std::string> doubts(const std::vector<bitmap>& all) const;
  /// The missing strings, one sentence each.
  [[nodiscard]] std::vector<std::string> missing(const std::vector<bitmap>& all) const;
  /// The same for a filter whose strings all existed when it was attached. For others this is empty, since a
  /// lost string then looks like one that does not exist yet.    @throws  as foreign::survey
  /// Cost: one command for each string.
  [[nodiscard]] std::vector<std::string> lost_strings() const;

  /// @throws parameter_error, backend_error
  [[nodiscard]] std::optional<foreign_bits> foreign_bits_of(std::string_view key) const override;

 private:
  batch_result run(std::span<const partition_batch> batches, attached_task::purpose intent) const;
  [[nodiscard]] std::optional<batch_failure> judge(std::span<const partition_batch> batches,
                                                   attached_task::purpose intent) const;
  [[nodiscard]] std::vector<bitmap> recent_survey() const;
  [[nodiscard]] attached_task::commands commands_now(const redis::server_connections& connections) const;

  std::shared_ptr<redis::connection_pool> pool_;
  const attached_names names_;
  const spec spec_;
  const access mode_;
  mutable std::atomic<bool> no_scripts_{false};   // the server forbids them
  mutable std::atomic<std::uint64_t> newest_{0};  // of a chain: the newest string when it was last read

  struct remembered_survey {
    std::vector<bitmap> all{};
    std::chrono::steady_clock::time_point good_until{};
  };
  mutable std::mutex lock_;  // guards what follows
  mutable remembered_survey surveyed_{};
};

/// The filter as what it is, if another program keeps it; else null.
[[nodiscard]] const attached_filter* as_attached(const stored_filter& f) noexcept;

}  // namespace everseen::foreign
