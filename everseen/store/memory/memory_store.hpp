#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/embedded/embedded_filter.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/store/port/time_source.hpp"

namespace everseen {

struct link_facts;

/// Filters in this process's memory, lost when it ends: `mem:`. An expired filter no longer exists for any
/// function.
class memory_store : public store {
 public:
  /// @param now  the clock by which links end and filters expire
  explicit memory_store(time_source now = wall_clock);

  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s) override;
  std::shared_ptr<stored_filter> create_expiring(std::string_view name, const spec& s,
                                                 std::chrono::milliseconds life) override;
  std::shared_ptr<stored_filter> open(std::string_view name, access how) override;
  void link(std::string_view older, std::string_view newer,
            std::optional<std::chrono::milliseconds> life) override;
  void unlink(std::string_view newer) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;
  void drop(std::string_view name) override;
  /// Open handles stay valid.
  void rename(std::string_view from, std::string_view to, namesake there) override;
  void remove_expired() override;
  [[nodiscard]] std::optional<std::uint64_t> room_bytes() const override;
  /// Open handles see the filter emptied, partition by partition.
  void reset(std::string_view name) override;
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  class restoring;

  struct registry {
    std::mutex lock;
    struct entry {
      std::shared_ptr<embedded_filter> filter;
      std::optional<predecessor> older{};
    };
    std::map<std::string, entry, std::less<>> filters;
    /// Maps an older filter to the filter that asks it first, or did once. No filter is asked by two.
    std::map<std::string, std::string, std::less<>> askers;

    void insert(std::string_view name, std::shared_ptr<embedded_filter> filter);
    /// @pre the lock is held    @throws no_filter; filter_expired
    [[nodiscard]] entry& at(std::string_view name);
    void erase(std::string_view name);
    [[nodiscard]] std::string asked_by(std::string_view name, event_time now) const;
    [[nodiscard]] link_facts facts_of(std::string_view name, event_time now);
  };

  const time_source now_;
  /// Shared with restores, which may outlive this.
  const std::shared_ptr<registry> registry_ = std::make_shared<registry>();
};

}  // namespace everseen
