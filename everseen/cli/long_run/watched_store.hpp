#pragma once

#include <memory>
#include <utility>

#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// Makes a store and its filters wait by `by` during this object's lifetime.
class watched_store {
 public:
  watched_store(store& watched, std::shared_ptr<retry_policy> by) : watched_(watched) {
    watched_.wait_with(std::move(by));
  }
  ~watched_store() { watched_.wait_with(nullptr); }
  watched_store(const watched_store&) = delete;
  watched_store& operator=(const watched_store&) = delete;

 private:
  store& watched_;
};

}  // namespace everseen::cli
