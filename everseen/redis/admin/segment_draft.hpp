#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen::redis {

/// A filter made from segments, before a name leads to it.
///
/// Bits are sent to the servers as they come, with a time limit, so an abandoned draft soon disappears: of a
/// filter that its clients judge, each segment is a string; of one that servers judge, the segments of a
/// partition are kept here until all of them are known, since the header of a value lists them.
class segment_draft {
 public:
  segment_draft(std::shared_ptr<connection_pool> pool, const filter_directory& in, const spec& s);

  [[nodiscard]] const filter_identity& identity() const noexcept { return made_; }
  /// As store::restore::add_segment. The segments of a partition must come together where servers judge.
  /// @throws parameter_error  see partition_keys::excess_of
  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer);
  /// All added layers, by partition, once they are on their servers.    @throws backend_error
  [[nodiscard]] const std::vector<partition_state>& finish();

 private:
  struct held_segment {
    segment_id id;
    std::vector<std::byte> bits;
  };

  [[nodiscard]] bool has_values() const noexcept { return made_.spec.judge == judge_kind::server; }
  void send_held();
  void send_string(server_connections& connections, const held_segment& s);
  void send_value(server_connections& connections);

  std::shared_ptr<connection_pool> pool_;
  const filter_identity made_;
  std::vector<partition_state> states_;
  std::vector<held_segment> held_{};  // not sent yet, of one partition
};

}  // namespace everseen::redis
