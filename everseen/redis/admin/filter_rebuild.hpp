#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/admin/segment_draft.hpp"
#include "everseen/redis/transport/session.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen::redis {

/// Rebuilds a filter while clients use it: doc/format.md, "Rebuild".
///
/// The new filter takes the old one's place immediately, and asks it first until commit(). A key is `seen` as
/// soon as the new filter has received it. An abandoned rebuild leaves both filters in use, until the next
/// rebuild or a reset.
class filter_rebuild final : public filter_admin::rebuild {
 public:
  /// @throws  as filter_admin::begin_rebuild
  filter_rebuild(std::shared_ptr<session_pool> pool, const filter_directory& in, std::string_view name,
                 const spec& s, std::span<const partition_state> base);

  /// Merge the segments of a base before target() and commit(), which put the new filter in place.
  void merge(const segment_id& id, std::span<const std::byte> bits) override;
  std::shared_ptr<stored_filter> target() override;
  void commit() override;

 private:
  [[nodiscard]] filter_identity old_one(session& connections);
  void begin();
  void decide(session& connections);
  void keep_window() const;

  std::shared_ptr<session_pool> pool_;
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
  filter_restore(std::shared_ptr<session_pool> pool, const filter_directory& into, std::string_view name,
                 const spec& s);

  std::span<std::byte> add_segment(const segment_id& id, const layer_state& layer) override {
    return draft_.add_segment(id, layer);
  }
  void commit() override;

 private:
  std::shared_ptr<session_pool> pool_;
  const filter_directory into_;
  const std::string name_;
  segment_draft draft_;
};

}  // namespace everseen::redis
