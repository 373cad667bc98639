#pragma once

#include <memory>
#include <utility>

#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// Makes a remote store and its filters wait by `policy` during this object's lifetime. A local store has no
/// outages: how long to wait for another writer of its files is said by --wait.
class watched_store {
 public:
  watched_store(store& watched, std::shared_ptr<retry_policy> policy) : watched_(watched) {
    if (watched_.traits().is_remote) before_ = watched_.wait_with(std::move(policy));
  }
  ~watched_store() {
    if (watched_.traits().is_remote) watched_.wait_with(std::move(before_));
  }
  watched_store(const watched_store&) = delete;
  watched_store& operator=(const watched_store&) = delete;

 private:
  store& watched_;
  std::shared_ptr<retry_policy> before_{};
};

}  // namespace everseen::cli
