#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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
  std::unique_ptr<restore> begin_restore(std::string_view name, const spec& s) override;

 private:
  class restoring;

  void insert(std::string_view name, std::shared_ptr<stored_filter> filter);

  mutable std::mutex lock_;
  std::map<std::string, std::shared_ptr<stored_filter>, std::less<>> filters_;
};

}  // namespace everseen
