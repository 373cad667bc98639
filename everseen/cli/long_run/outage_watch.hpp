#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/store/port/retry_policy.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// The behaviour of a long run while its store is unavailable, and its messages about that.
class outage_watch final : public retry_policy {
 public:
  enum class policy : std::uint8_t {
    fail,  ///< waits for as long as the store itself would
    pass,  ///< the same, once; then one attempt for each call until the store is back
    hold,  ///< waits until the store is back
  };

  /// @param say   shows a sentence to the user
  /// @param ends  whether the run is to end for another reason; then it waits no longer
  outage_watch(policy reaction, std::function<void(const std::string&)> say, std::function<bool()> ends)
      : policy_(reaction), say_(std::move(say)), ends_(std::move(ends)) {}

  bool tries_again(const outage& trouble) override;
  void on_recovered() override;
  [[nodiscard]] bool may_take_hours() const noexcept override { return policy_ == policy::hold; }

 private:
  using clock = std::chrono::steady_clock;

  enum class note : std::uint8_t { none, waiting, passing };

  [[nodiscard]] bool waits(const outage& trouble) const;
  [[nodiscard]] note due(const outage& trouble, bool again) const;
  void say(note message, const std::string& why);

  const policy policy_;
  const std::function<void(const std::string&)> say_;
  const std::function<bool()> ends_;
  std::mutex lock_;  // guards the members below
  bool given_up_ = false;
  note shown_ = note::none;  // in this outage
  clock::time_point said_at_{};
  clock::time_point since_{};
};

/// fail, pass or hold; nothing for another word.
[[nodiscard]] std::optional<outage_watch::policy> parse_outage(std::string_view word);

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
