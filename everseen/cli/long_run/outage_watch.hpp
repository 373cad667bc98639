#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/store/port/retry_policy.hpp"

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

}  // namespace everseen::cli
