#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition.hpp"
#include "everseen/redis/lease_scripts.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/memory_segments.hpp"

namespace everseen::redis {

/// Segments in memory that would also fit a Redis string.
class local_segments final : public memory_segments {
 public:
  using memory_segments::memory_segments;
  /// @throws full_error  it would not
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
};

/// A partition that is held under a lease: as it is here, and as it is on the server.
class leased_partition {
 public:
  /// @param place  where the segments are; keeps nothing of this partition yet
  /// @param now    as the server has it, in the epoch that the lease began
  leased_partition(const remote_filter& f, std::string owner, local_segments& place, remote_partition now);
  ~leased_partition();
  leased_partition(const leased_partition&) = delete;
  leased_partition& operator=(const leased_partition&) = delete;

  /// What reads the segments, in their order; each request is a page.
  [[nodiscard]] std::vector<request> reads() const;
  /// @param pages  the answers to reads()    @throws format_error, backend_error
  void take_pages(std::span<const answer> pages);

  /// Judges the keys here, and adds the fresh ones here.
  batch_result add(const partition_batch& batch);

  /// What brings the pages that have changed to the server.
  [[nodiscard]] std::vector<request> writes() const;
  /// What makes them count there. Without changes it only renews the lease.
  [[nodiscard]] request settle() const;
  /// The server has all of it.
  void settled();

  [[nodiscard]] request release() const;

 private:
  using bytes = std::vector<std::byte>;

  [[nodiscard]] std::string key_of(const segment_id& id) const;
  [[nodiscard]] bool has_other_segments() const;
  [[nodiscard]] request call(const script& s, std::span<const std::string> keys,
                             std::span<const std::string_view> arguments) const;
  void add_writes(const segment_id& id, std::uint64_t length, std::vector<request>& to) const;

  const remote_filter& filter_;
  const std::string owner_;
  local_segments& place_;
  remote_partition there_;                // as the server knows it
  std::map<segment_id, bytes> copies_{};  // of the segments there
  std::unique_ptr<partition> here_{};
};

}  // namespace everseen::redis
