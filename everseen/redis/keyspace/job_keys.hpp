#pragma once

#include <string>
#include <string_view>

#include "everseen/core/format/partition_keys.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"

namespace everseen::redis {

/// The keys of a filter's jobs: doc/format.md, "Jobs".
///
/// All except these two contain a random id of the job. What remains of an ended job is therefore never taken
/// for a later job of the same name.
class job_keys {
 public:
  /// @param id  random_name()
  job_keys(const filter_keys& filter, std::string id) : filter_(filter), id_(std::move(id)) {}

  /// Hash: job names; each value is the job's id, a space and its description. In the slot of the header.
  [[nodiscard]] static std::string list(const filter_keys& filter) { return filter.header() + ":jobs"; }
  /// Hash: ids of jobs that were ended and are being removed. In the slot of the header.
  [[nodiscard]] static std::string gone(const filter_keys& filter) { return filter.header() + ":gone"; }

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// Hash: the furthest checkpoint of each source. In the slot of the list.
  [[nodiscard]] std::string checkpoints() const { return filter_.header() + ":c" + id_; }
  /// Hash: the lane record of each source; after a zero byte, the value of each counter.
  [[nodiscard]] std::string lanes(std::uint32_t partition) const {
    return partition_keys::lane_records(filter_.state(partition), id_);
  }
  /// A field of a partition's state; without it, the job cannot claim events there.
  [[nodiscard]] std::string field() const { return partition_keys::job_field(id_); }

 private:
  filter_keys filter_;
  std::string id_;
};

}  // namespace everseen::redis
