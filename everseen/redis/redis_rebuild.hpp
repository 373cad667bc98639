#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

/// A new generation of a filter that is in use: doc/format.md, "Rebuild".
///
///     make the states ──> header: next ──> announce to each partition ──> (fill) ──> make lasting
///                                                     ──> header: ready ──> close each partition ──> header:
///                                                     flip
///
/// Who dies before `ready` leaves a generation that expires within a day; the next rebuild, reset or drop
/// removes it at once. Who dies after leaves a filter that works, and whoever opens it to write does the
/// rest.
class redis_rebuild final : public store::rebuild {
 public:
  /// @throws  as store::begin_rebuild
  redis_rebuild(std::shared_ptr<session_pool> pool, std::string_view name, const spec& s);
  ~redis_rebuild() override;

  /// When it returns, whoever adds keys to the filter adds them here, too.
  void begin(std::span<const partition_state> base);

  [[nodiscard]] std::shared_ptr<stored_filter> target() override;
  void merge(const segment_id& id, std::span<const std::byte> bits) override;
  void commit() override;

 private:
  void make_states(std::span<const partition_state> base);
  void make_segment(const segment_id& id, std::uint64_t bytes, const std::string& end);

  std::shared_ptr<session_pool> pool_;
  session_pool::lease with_;
  catalogue catalogue_;
  remote_filter live_;
  remote_filter next_;
  std::vector<partition_state> base_{};
  bool is_ready_ = false;  // it can no longer be given up
};

/// Does what is left of a rebuild whose new generation is ready; nothing if there is none.
/// @param h  as it was read; brought up to date    @throws format_error, backend_error
void finish_rebuild(session& with, const catalogue& names, header& h);

/// Puts an end to a rebuild that is not ready, unless it is by now, and removes what it has made.
/// @throws backend_error
void give_up_rebuild(session& with, const remote_filter& live, const remote_filter& next);

}  // namespace everseen::redis
