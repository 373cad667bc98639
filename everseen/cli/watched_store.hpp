#pragma once

#include <memory>
#include <utility>

#include "everseen/store/store.hpp"

namespace everseen::cli {

/// A store under a watch, for as long as this lives.
class watched_store {
 public:
  watched_store(stored_filter& watched, std::shared_ptr<patience> by) : watched_(watched) {
    watched_.wait_with(std::move(by));
  }
  ~watched_store() { watched_.wait_with(nullptr); }
  watched_store(const watched_store&) = delete;
  watched_store& operator=(const watched_store&) = delete;

 private:
  stored_filter& watched_;
};

}  // namespace everseen::cli
