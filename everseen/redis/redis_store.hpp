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
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  class restoring;

  [[nodiscard]] key_names keys_of(std::string_view name) const;
  remote_filter begin(session& with, std::string_view name, const spec& s) const;
  void finish(session& with, const remote_filter& f) const;
  void unlink_partition(session& with, const remote_filter& f, std::uint32_t partition) const;
  [[nodiscard]] bool is_being_made(session& with, std::string_view name) const;
  [[nodiscard]] remote_filter read_header(session& with, std::string_view name) const;

  std::shared_ptr<session_pool> pool_;
};

}  // namespace everseen::redis
