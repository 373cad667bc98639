#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// Rebuilds a filter while clients use it.
///
/// The new filter takes the old one's place immediately, and asks it first until commit(). A key is `seen` as
/// soon as the new filter has received it. An abandoned rebuild leaves both filters in use, until the next
/// rebuild or a reset.
///
/// A filter N takes the place of O in steps that may each be repeated. The fields are those of doc/format.md,
/// "Header" and "Rebuild".
///
/// 1. The rebuild makes N, with the segments of a copy if there is one, with the time limits of a creation,
///    and `after` = O. If it ends here, N's keys expire.
/// 2. The rebuild sets `next` = N in the header of O, unless it has another `next` or O has a job. From now
///    on no job can begin on O, and its end cannot change. If N expires, or a failover takes a part of it,
///    before step 3, `next` is removed.
/// 3. The rebuild, or any client that opens O to write or administers it: N gets O's end, if it still has
///    `after` = O, and is made permanent. One script on the names lets names and links that lead to O lead
///    to N, and keeps O for N. If neither has a name, N is removed.
/// 4. The rebuild, or any client that opens N to write while it has `after`, seals all partitions of O with
///    `successor` = N. Only now is anything added to N. If the rebuild ends here, N is in use and asks O.
/// 5. The rebuild moves N's window to where O's is; then it adds the given keys. Where clients judge, it
///    waits for a second before: a client that adds only keys it has seen asks each partition once a second.
/// 6. The rebuild removes `after` from the header of N, unless N has `next` itself.
/// 7. The rebuild, or the next drop, replacement or rebuild, removes any O that is kept for an N that does
///    not have `after` = O.
class filter_rebuild final : public filter_admin::rebuild {
 public:
  /// @throws  as filter_admin::begin_rebuild
  filter_rebuild(std::shared_ptr<connection_pool> pool, const filter_directory& in, std::string_view name,
                 const spec& s, std::span<const partition_state> base);

  /// Merge the segments of a base before target() and commit(), which put the new filter in place.
  void merge(const segment_id& id, std::span<const std::byte> bits) override;
  std::shared_ptr<stored_filter> target() override;
  void commit() override;

 private:
  [[nodiscard]] filter_identity old_one(server_connections& connections);
  void begin();
  void decide(server_connections& connections);
  void keep_window() const;

  std::shared_ptr<connection_pool> pool_;
  const filter_directory in_;
  const std::string name_;
  const std::vector<partition_state> base_;
  const std::string word_ = random_name();
  segment_draft draft_;
  image::filter_id origin_{};
  std::optional<filter_identity> old_{};  // nothing: the new filter is not yet the successor
  bool is_in_place_ = false;
  bool is_in_doubt_ = false;  // whether it is the successor is unknown
};

/// A filter made from segments.
class filter_restore final : public filter_admin::restore {
 public:
  /// @throws name_taken, parameter_error, backend_error
  filter_restore(std::shared_ptr<connection_pool> pool, const filter_directory& into, std::string_view name,
                 const spec& s);

  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) override {
    return draft_.add_segment(id, layer);
  }
  void commit() override;

 private:
  std::shared_ptr<connection_pool> pool_;
  const filter_directory into_;
  const std::string name_;
  segment_draft draft_;
};

}  // namespace everseen::redis
