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

#include "everseen/redis/attached/attached_task.hpp"
#include "everseen/redis/attached/bitmaps.hpp"
#include "everseen/redis/keyspace/attachment.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::redis {

/// @throws parameter_error  a gear= that attached filters do not have
void require_gear(const redis_url& url, const attachment& a);

/// A filter that another program keeps, with that program's own hashes, names and rules: both use it at the
/// same time, and each sees what the other adds.
///
/// Nothing is written to its strings but bits, and to its cursor but what its own rule of growth says. There
/// is no count of keys, so how full it is is estimated from its set bits.
///
/// Above this port it is one partition; several strings and servers are in here.
class attached_filter final : public stored_filter {
 public:
  /// @param own  begins the names of all keys that everseen keeps for it
  attached_filter(std::shared_ptr<session_pool> pool, attachment a, std::string own, access how);

  [[nodiscard]] const spec& get_spec() const noexcept override { return spec_; }
  [[nodiscard]] bool wants_keys() const noexcept override { return true; }
  /// @throws parameter_error  the funnel cannot read a key; then none of the batch was added
  batch_result add(std::span<const partition_batch> batches) override;
  batch_result check(std::span<const partition_batch> batches) const override;
  /// A layer for each string of a chain; the strings of shards, which are all alike, count as one. Reads all
  /// bits, on their servers, so of more than a megabyte it is remembered: for a second for each 8 MiB, which
  /// keeps what it costs the servers to about 1 % however often it is called.
  [[nodiscard]] partition_state state(std::uint32_t partition) const override;
  /// Each string is a layer, as long as it is: Redis leaves out the zeros behind the last bit.
  void visit_segments(std::uint32_t partition, const segment_visitor& visit) const override;
  void sync() override {}
  [[nodiscard]] std::string place_of(std::uint32_t partition) const override;
  void wait_with(std::shared_ptr<retry_policy> p) override;
  [[nodiscard]] std::string access_path() const override;

  [[nodiscard]] const attachment& what() const noexcept { return names_.to; }

  /// @throws  as redis::survey
  [[nodiscard]] std::vector<bitmap> survey() const;
  /// The same without looking at bits: `set_bits` is 0.    Cost: a command for each string.
  [[nodiscard]] std::vector<bitmap> strings() const;

  /// The bytes of a string, a page at a time.    @throws  as redis::survey
  void read_string(const bitmap_place& place, const std::function<void(std::string_view)>& take) const;

  /// Keys that set this many bits of a string, by the formula.
  [[nodiscard]] double estimated_keys(std::uint64_t set_bits) const;
  /// Chance that a key never added is called seen now, from the share of bits that are set.
  [[nodiscard]] double error_rate_now(const std::vector<bitmap>& all) const;
  /// What speaks against the filter, a sentence each: hashes that are worse than the formula, a number of
  /// bits that does not fit what is there.
  [[nodiscard]] std::vector<std::string> doubts(const std::vector<bitmap>& all) const;
  /// The strings that are missing, a sentence each.
  [[nodiscard]] std::vector<std::string> missing(const std::vector<bitmap>& all) const;
  /// The same of a filter whose strings were all there when it was attached; else nothing, since a lost
  /// string then looks like one that does not exist yet.    @throws  as redis::survey
  /// Cost: a command for each string.
  [[nodiscard]] std::vector<std::string> lost_strings() const;

  using key_bits = redis::key_bits;
  /// In every string where the key may be.    @throws parameter_error, backend_error
  [[nodiscard]] std::vector<key_bits> bits_of(std::string_view key) const;

 private:
  batch_result run(std::span<const partition_batch> batches, attached_task::purpose what) const;
  [[nodiscard]] std::optional<batch_failure> judge(std::span<const partition_batch> batches,
                                                   attached_task::purpose what) const;
  [[nodiscard]] std::vector<bitmap> recent_survey() const;
  [[nodiscard]] attached_task::commands commands_now(const session& with) const;

  std::shared_ptr<session_pool> pool_;
  attached_names names_;
  const spec spec_;
  const access how_;
  mutable std::atomic<bool> no_scripts_{false};   // the server forbids them
  mutable std::atomic<std::uint64_t> newest_{0};  // of a chain, as it was when it was last looked at

  struct remembered_survey {
    std::vector<bitmap> all{};
    std::chrono::steady_clock::time_point good_until{};
  };
  mutable std::mutex lock_;  // guards what follows
  mutable remembered_survey surveyed_{};
};

}  // namespace everseen::redis
