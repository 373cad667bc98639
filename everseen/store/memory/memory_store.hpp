#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/embedded/embedded_filter.hpp"
#include "everseen/store/link/linked_filter.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen {

/// Filters in this process's memory, lost when it ends: `mem:`. An expired filter no longer exists for any
/// function.
class memory_store : public store {
 public:
  /// @param clock  the clock by which links end and filters expire
  explicit memory_store(time_source clock = wall_clock);

  [[nodiscard]] store_traits traits() const override;
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s,
                                        std::optional<std::chrono::milliseconds> life = {}) override;
  std::shared_ptr<stored_filter> open(std::string_view name, access mode) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;

  [[nodiscard]] filter_facts facts(std::string_view name) const override;
  void expire_at(std::string_view name, std::optional<event_time> when) override;
  [[nodiscard]] std::vector<std::string> jobs(std::string_view name) const override;
  void end_job(std::string_view name, std::string_view job) override;
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) override;
  void unlink(std::string_view newer) override;
  void drop(std::string_view name) override;
  /// Open handles stay valid.
  void rename(std::string_view from, std::string_view new_name, namesake there) override;
  void remove_expired() override;
  /// Open handles see the filter emptied, partition by partition.
  void reset(std::string_view name) override;
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;
  /// @throws parameter_error  always
  std::unique_ptr<rebuild> begin_rebuild(std::string_view name, const spec& s,
                                         std::span<const partition_state> base) override;

 private:
  class restoring;
  template <typename Act>
  auto with_filter(std::string_view name, Act act) const;

  struct registry {
    std::mutex lock;
    std::map<std::string, std::shared_ptr<embedded_filter>, std::less<>> filters;
    std::map<std::string, predecessor, std::less<>> links;  ///< by the newer filter; also those that ended

    void insert(std::string_view name, std::shared_ptr<embedded_filter> filter);
    /// @pre the lock is held    @throws no_filter; filter_expired
    [[nodiscard]] const std::shared_ptr<embedded_filter>& at(std::string_view name) const;
    void erase(std::string_view name);
    [[nodiscard]] filter_links live_links(event_time current_time) const;
  };

  const time_source clock_;
  /// Shared with restores, which may outlive this.
  const std::shared_ptr<registry> registry_ = std::make_shared<registry>();
};

}  // namespace everseen
