#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "everseen/core/partition_keys.hpp"
#include "everseen/core/segments.hpp"

namespace everseen::redis {

/// The names of a filter's keys: doc/format.md, "In Redis".
///
/// The part in braces is the hash tag: all keys of one partition lie in one cluster slot, so that one script
/// may touch them all.
class key_names {
 public:
  key_names(std::string prefix, std::string_view filter)
      : prefix_(std::move(prefix)), filter_(filter), kept_as_(filter) {}

  /// The name of the filter now.
  [[nodiscard]] const std::string& name() const noexcept { return filter_; }
  /// The name that it was made with, which its keys keep: a cluster moves no key from slot to slot.
  [[nodiscard]] const std::string& kept_as() const noexcept { return kept_as_; }
  void keep_as(std::string_view name) { kept_as_ = name; }

  /// Set of the names of all filters under a prefix.
  [[nodiscard]] static std::string index(const std::string& prefix) { return prefix; }

  /// Sorted set of the filters that end by themselves, by the time they do. In the slot of the index.
  [[nodiscard]] static std::string ends(const std::string& prefix) {
    return prefix + ":{" + prefix + "}:ends";
  }

  /// The filter itself: hash of spec, id, generation, ready.
  [[nodiscard]] std::string header() const { return prefix_ + ":" + filter_; }

  /// What a partition remembers beside its bits: hash of manifest, epoch, and a count for each segment.
  [[nodiscard]] std::string state(std::uint64_t generation, std::uint32_t partition) const {
    return prefix_ + ":{" + kept_as_ + "/" + std::to_string(generation) + "/" + std::to_string(partition) +
           "}";
  }
  /// A segment: a string of bits.
  [[nodiscard]] std::string segment(std::uint64_t generation, const segment_id& id) const {
    return partition_keys::segment(state(generation, id.partition), id);
  }
  /// The last batch of one client and what it was answered; expires.
  [[nodiscard]] std::string token(std::uint64_t generation, std::uint32_t partition,
                                  std::string_view client) const {
    return partition_keys::token(state(generation, partition), client);
  }

  /// The jobs of a filter, with their descriptions. On the first server, as the header.
  [[nodiscard]] std::string jobs(std::uint64_t generation) const { return of_jobs(generation) + "jobs"; }
  /// By lane, how far a job has settled.
  [[nodiscard]] std::string checkpoints(std::uint64_t generation, std::string_view job) const {
    return of_jobs(generation) + "j:" + std::string(job);
  }

 private:
  [[nodiscard]] std::string of_jobs(std::uint64_t generation) const {
    return prefix_ + ":{" + kept_as_ + "/" + std::to_string(generation) + "}:";
  }

  std::string prefix_;
  std::string filter_;
  std::string kept_as_;
};

using partition_keys::count_field;

}  // namespace everseen::redis
