#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "everseen/redis/filter/sealable_filter.hpp"

namespace everseen::redis {

/// The filter in place and those that it asks first: a rebuilt filter asks the previous one until it is
/// filled.
///
/// Immutable: when a filter is no longer asked, another generation object replaces this one.
struct generation {
  using keys = std::span<const partition_batch>;
  /// Adds keys to a filter, or looks them up.
  using judging = std::function<batch_result(sealable_filter&, keys)>;

  std::shared_ptr<sealable_filter> newest;
  std::vector<std::shared_ptr<sealable_filter>> before{};  ///< the one that it succeeds first

  [[nodiscard]] std::vector<image::filter_id> ids() const;
  /// A key that a previous generation has is `seen`, and one that it calls late is not `fresh`. The newest
  /// generation gets these keys nevertheless; otherwise they would be lost with the others.
  batch_result judge(keys batches, const judging& judge) const;
};

/// The generations of one filter, beginning with the one that a client opened. Each rebuild seals the filter,
/// which then names its successor.
///
/// Threads: any number.
class generations {
 public:
  using pointer = std::shared_ptr<const generation>;

  /// @throws storage_error  the filter was dropped    @throws backend_error, format_error
  generations(std::shared_ptr<connection_pool> pool, std::string name, const filter_identity& f, access mode);

  [[nodiscard]] connection_pool::lease connections() const { return pool_->take(); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::shared_ptr<sealable_filter>& opened() const noexcept { return opened_; }
  /// Whether the generation that was opened is still in place, as far as is known.
  [[nodiscard]] bool opened_is_in_place() const;

  /// The generation in place. If it asks others, whether it still does is looked up.
  [[nodiscard]] pointer in_place() const;
  /// Continues with the successor, which was in place before the first seal.    @return false  there is none
  [[nodiscard]] bool follow(const pointer& sealed) const;
  /// After a failure of the store: whether the filter, or one that it asks, was rebuilt meanwhile. If so,
  /// another generation is in place.
  [[nodiscard]] bool was_rebuilt(const pointer& failed) const;

 private:
  [[nodiscard]] pointer generation_of(redis::server_connections& connections,
                                      std::shared_ptr<sealable_filter> newest, const generation* known) const;
  [[nodiscard]] bool find_again(redis::server_connections& connections, const pointer& lost) const;
  void replace(const pointer& left, pointer next) const;

  const std::shared_ptr<connection_pool> pool_;
  const std::string name_;
  const access mode_;
  const std::shared_ptr<sealable_filter> opened_;
  image::filter_id origin_{};  // all generations have this one
  mutable std::mutex lock_;    // guards what follows
  mutable pointer in_place_{};
};

}  // namespace everseen::redis
