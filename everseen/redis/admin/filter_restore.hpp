#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "everseen/redis/admin/segment_draft.hpp"

namespace everseen::redis {

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
