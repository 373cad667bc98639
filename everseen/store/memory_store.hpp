#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/store/embedded_filter.hpp"
#include "everseen/store/store.hpp"

namespace everseen {

/// Filters in this process's memory, gone with it: `mem:`.
class memory_store : public store {
 public:
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s) override;
  std::shared_ptr<stored_filter> open(std::string_view name, access how) override;
  [[nodiscard]] bool exists(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> list() const override;
  void drop(std::string_view name) override;
  [[nodiscard]] std::optional<std::uint64_t> room_bytes() const override;
  /// Whoever has the filter open sees it emptied, partition by partition.
  void reset(std::string_view name) override;
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  class restoring;

  struct shelf {
    std::mutex lock;
    std::map<std::string, std::shared_ptr<embedded_filter>, std::less<>> filters;

    void insert(std::string_view name, std::shared_ptr<embedded_filter> filter);
    [[nodiscard]] std::shared_ptr<embedded_filter> find(std::string_view name);
  };

  const std::shared_ptr<shelf> shelf_ =
      std::make_shared<shelf>();  // shared with restores, which may outlive this
};

}  // namespace everseen
