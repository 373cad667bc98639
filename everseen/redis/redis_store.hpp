#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/redis_url.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/session.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

/// Filters on Redis as it comes: one instance, several independent ones, or a cluster; Redis 5 or later,
/// Valkey.
///
/// A filter is a header key that everybody finds by name, and for each partition a state key and its
/// segments: doc/format.md, "In Redis". Any number of clients may use, fill and grow one filter at once.
///
/// Every filter has keys of its own, under a generation drawn at random, and its header comes last. So a
/// filter is there wholly or not at all, what a lost or dropped one of the same name left behind is never
/// taken for its bits, and who still uses a dropped one is told so. What a process that died left half made
/// expires after a day.
class redis_store final : public store {
 public:
  /// Connects to nothing yet.
  explicit redis_store(redis_url url);

  [[nodiscard]] spec plan(const spec_request& request) const override;
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s) override;
  std::shared_ptr<stored_filter> open(std::string_view name, access how) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;
  void drop(std::string_view name) override;
  [[nodiscard]] bool is_remote() const noexcept override { return true; }
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  class draft;
  class restoring;

  [[nodiscard]] key_names keys_of(std::string_view name) const;
  [[nodiscard]] bool is_listed(session& with, std::string_view name) const;
  [[nodiscard]] bool has_header(session& with, std::string_view name) const;
  [[nodiscard]] bool is_ready(session& with, std::string_view name) const;
  [[nodiscard]] bool is_lost(session& with, std::string_view name) const;
  bool list(session& with, std::string_view name) const;
  void unlist(session& with, std::string_view name) const;
  [[nodiscard]] remote_filter new_filter(session& with, std::string_view name, const spec& s) const;
  [[nodiscard]] remote_filter read_header(session& with, std::string_view name) const;
  [[nodiscard]] remote_filter decode_header(std::string_view name, const reply& fields) const;
  void unlink_partition(session& with, const remote_filter& f, std::uint32_t partition) const;

  std::shared_ptr<session_pool> pool_;
};

}  // namespace everseen::redis
