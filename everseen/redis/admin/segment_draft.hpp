#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen::redis {

/// A filter made from segments, before a name leads to it.
///
/// Segments are sent to the server one by one, with a time limit, so an abandoned draft soon disappears.
class segment_draft {
 public:
  segment_draft(std::shared_ptr<session_pool> pool, const filter_directory& in, const spec& s);

  [[nodiscard]] const filter_identity& identity() const noexcept { return made_; }
  /// As store::restore::add_segment.    @throws parameter_error  see partition_keys::excess_of
  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer);
  /// All added layers, by partition, once they are on their servers.    @throws backend_error
  [[nodiscard]] const std::vector<partition_state>& finish();

 private:
  void send_last();

  std::shared_ptr<session_pool> pool_;
  const filter_identity made_;
  std::vector<partition_state> states_;
  segment_id last_id_{};
  std::vector<std::byte> last_{};
};

}  // namespace everseen::redis
