#pragma once

#include <string>
#include <string_view>

#include "everseen/core/format/partition_keys.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"

namespace everseen::redis {

/// The keys of a filter's jobs: doc/format.md, "Jobs".
///
/// All but the list are named by an id of the job, so that what is left of one that was ended is never taken
/// for a later one's of its name.
class job_keys {
 public:
  /// @param id  random_name()
  job_keys(const filter_keys& filter, std::string id) : filter_(filter), id_(std::move(id)) {}

  /// Hash of the jobs' names; of each its id, a space and its description. What is being removed has the name
  /// `!` and the id. In the slot of the header.
  [[nodiscard]] static std::string list(const filter_keys& filter) { return filter.header() + ":jobs"; }

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// Hash: by source, the furthest checkpoint. In the slot of the list.
  [[nodiscard]] std::string checkpoints() const { return filter_.header() + ":c" + id_; }
  /// Hash: by source, the record of its lane, and, behind a zero byte, by counter, its value.
  [[nodiscard]] std::string lanes(std::uint32_t partition) const {
    return partition_keys::lane_records(filter_.state(partition), id_);
  }
  /// The field of a partition's state without which nothing is claimed for the job.
  [[nodiscard]] std::string field() const { return partition_keys::job_field(id_); }

 private:
  filter_keys filter_;
  std::string id_;
};

/// Part of a script. `has_job(list)`: `!` begins what is left of jobs that are being removed.
inline constexpr std::string_view has_job = R"(
local function has_job(list)
  for _, job in ipairs(redis.call('HKEYS', list)) do
    if string.sub(job, 1, 1) ~= '!' then return true end
  end
  return false
end
)";

}  // namespace everseen::redis
