#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/redis/admin/filter_directory.hpp"
#include "everseen/redis/attaching.hpp"
#include "everseen/redis/catalogue.hpp"
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
/// expires after a day, unless it died just before taking the name: then its keys are already lasting.
class redis_store final : public store {
 public:
  /// Connects to nothing yet.
  explicit redis_store(redis_url url);

  /// Asks the servers whether they have the module, unless the request or the URL says enough.
  [[nodiscard]] spec plan(const spec_request& request) const override;
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s) override;
  /// All its keys end at one moment, by the clocks of their servers; using it does not put that off.
  std::shared_ptr<stored_filter> create_expiring(std::string_view name, const spec& s,
                                                 std::chrono::milliseconds life) override;
  /// Makes a filter that another program keeps on these servers usable under a name; see attached_filter.hpp.
  /// @throws  as redis::attach
  std::vector<bitmap> attach(std::string_view name, const attachment& a, missing_key missing);
  /// What a filter that another program keeps was attached as, even if it cannot be opened; nothing for one
  /// of everseen's own.    @throws  as open, of its header
  [[nodiscard]] std::optional<attachment> attachment_of(std::string_view name) const;
  /// By the clock of the servers. Where scripts are forbidden that is a backend_error.
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) override;
  void unlink(std::string_view newer) override;
  /// @throws storage_error  the filter is linked to another one, which cannot be opened    @throws  as store
  std::shared_ptr<stored_filter> open(std::string_view name, access how) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;
  /// An attached filter is only forgotten: nothing that its own program keeps is touched.
  void drop(std::string_view name) override;
  /// In some steps, one of which decides: renaming.hpp. Where scripts are forbidden that is a backend_error.
  void rename(std::string_view from, std::string_view to, namesake there) override;
  /// Those that their clients judge; keys of the others end by themselves.
  void remove_ended() override;
  /// Partition by partition, each in one step that no batch interleaves; clients go on as before.
  void reset(std::string_view name) override;
  [[nodiscard]] std::vector<std::string> warnings() const override;
  [[nodiscard]] std::vector<std::string> job_warnings() const override;
  [[nodiscard]] bool is_remote() const noexcept override { return true; }
  void wait_with(std::shared_ptr<patience> p) override { pool_->wait_with(std::move(p)); }
  /// A Redis string ends at 512 MiB.
  [[nodiscard]] std::optional<std::uint64_t> longest_segment_bytes() const override;
  std::unique_ptr<rebuild> begin_rebuild(std::string_view name, const spec& s,
                                         std::span<const partition_state> base) override;
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  class draft;
  class restoring;

  [[nodiscard]] bool has_module() const;
  [[nodiscard]] remote_filter new_filter(session& with, std::string_view name, const spec& s) const;
  std::shared_ptr<stored_filter> open_alone(session& with, header h, access how);
  std::shared_ptr<stored_filter> open_alone(session& with, std::string_view name, access how);
  /// @param clock  a key of the server by whose clock the link ends
  std::shared_ptr<stored_filter> open_linked(session& with, std::string_view name, const predecessor& older,
                                             const std::string& clock, access how);
  std::shared_ptr<stored_filter> make(session& with, remote_filter new_one) const;
  std::shared_ptr<stored_filter> make_for_clients(session& with, std::string_view name, const spec& s,
                                                  std::optional<std::chrono::milliseconds> life) const;
  void unlink_partition(session& with, const remote_filter& f, std::uint32_t partition) const;

  std::shared_ptr<session_pool> pool_;
  catalogue catalogue_;
  filter_directory directory_;  // of filters that their clients judge
};

}  // namespace everseen::redis
