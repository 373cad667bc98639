#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/serve/base/byte_budget.hpp"
#include "everseen/serve/base/counters.hpp"
#include "everseen/serve/base/options.hpp"
#include "everseen/serve/base/worker_pool.hpp"
#include "everseen/serve/registry/filter_registry.hpp"
#include "everseen/serve/registry/judge_batch.hpp"
#include "everseen/serve/service/bounded_retry_policy.hpp"
#include "everseen/serve/service/chunk_loads.hpp"
#include "everseen/serve/service/client_list.hpp"
#include "everseen/serve/service/guess_limit.hpp"
#include "everseen/serve/service/request_sessions.hpp"
#include "everseen/serve/service/store_health.hpp"

namespace everseen::serve {

/// Cost: the same for any password of the same length.
[[nodiscard]] bool has_password(const user_account& user, std::string_view tried) noexcept;

/// What all sessions of a server share. It has no sockets. Threads: any number.
class service {
 public:
  service(options o, std::shared_ptr<store> place);
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  [[nodiscard]] const serve::options& settings() const noexcept { return settings_; }
  /// Where the server listens for the Redis protocol, with the assigned ports.
  [[nodiscard]] const std::vector<listen_address>& addresses() const noexcept { return addresses_; }
  /// @pre  no client is connected yet
  void set_addresses(std::vector<listen_address> addresses) { addresses_ = std::move(addresses); }
  [[nodiscard]] filter_registry& filters() noexcept { return filters_; }
  [[nodiscard]] client_list& clients() noexcept { return clients_; }
  [[nodiscard]] chunk_loads& loads() noexcept { return loads_; }
  [[nodiscard]] request_sessions& sessions() noexcept { return sessions_; }
  /// Drops a filter, and its incomplete load.    @return false  there was no filter
  bool drop(std::string_view key);
  /// Twice as many as may wait through an outage with a place; see outages().
  [[nodiscard]] worker_pool& workers() noexcept { return workers_; }

  /// Only for batches of keys; see filter_registry::threads.
  [[nodiscard]] worker_pool& batches() noexcept { return batches_; }

  /// For work that does not wait for the store, even while all workers do.
  [[nodiscard]] worker_pool& asides() noexcept { return asides_; }
  /// The gate for everything that reads or changes filters.
  [[nodiscard]] store_health& health() noexcept { return health_; }
  [[nodiscard]] bounded_retry_policy& outages() noexcept { return *retry_policy_; }

  /// The memory of incomplete requests, over either protocol, and of those queued by MULTI.
  [[nodiscard]] byte_budget& requests() noexcept { return requests_; }

  /// Whether clients must authenticate.
  [[nodiscard]] bool asks_for_password() const noexcept { return !settings_.users.empty(); }
  /// The user with this password and, if the client gives one, this name.
  struct identity {
    const user_account* user = nullptr;  ///< null: no such user
    bool must_wait = false;  ///< too many wrong passwords came from this network: it was not checked
  };
  /// The reply does not reveal which of the two was wrong.
  /// @param network  of the client, as client::network
  /// Cost: the same for any password of the same length.
  [[nodiscard]] identity identify(std::string_view network, std::optional<std::string_view> name,
                                  std::string_view password);

  [[nodiscard]] static event_time now();
  [[nodiscard]] event_time started() const noexcept { return started_; }

  /// Requests an orderly end of the server.
  void ask_to_stop() noexcept { must_stop_ = true; }
  /// From now on clients get their last answers.
  void begin_to_stop() noexcept { is_stopping_ = true; }
  [[nodiscard]] bool is_stopping() const noexcept { return is_stopping_; }
  [[nodiscard]] bool must_stop() const noexcept { return must_stop_; }

  /// Whether a BGSAVE waits or runs.
  std::atomic<bool> is_saving = false;

  /// Counted since the start, for INFO.
  struct {
    std::atomic<std::uint64_t> connections = 0;
    std::atomic<std::uint64_t> refused_connections = 0;
    std::atomic<std::uint64_t> commands = 0;
    std::atomic<std::int64_t> last_save_s = 0;
  } count;

  /// Results of batches of keys, of all clients.
  [[nodiscard]] batch_stats& stats() noexcept { return stats_; }
  [[nodiscard]] duration_histogram& http_took() noexcept { return http_took_; }
  [[nodiscard]] request_counts& http_requests() noexcept { return http_requests_; }

  /// Writes an event for the operator; see event_log.
  void log(telemetry::log_level level, std::string_view event,
           std::initializer_list<telemetry::log_field> fields) const {
    if (settings_.log) settings_.log->write_sometimes(level, event, fields);
  }

  /// Can be changed at run time by CONFIG SET.
  struct {
    std::atomic<std::size_t> max_connections;
    std::atomic<std::int64_t> idle_timeout_s;
  } tunable;

 private:
  const serve::options settings_;
  std::vector<listen_address> addresses_{};
  const event_time started_;
  std::atomic<bool> must_stop_ = false;
  std::atomic<bool> is_stopping_ = false;
  batch_stats stats_;
  duration_histogram http_took_{};
  request_counts http_requests_{};
  byte_budget requests_{settings_.requests_bytes};
  guess_limit guesses_{};
  // The policy for waiting for the store; shared with calls in progress.
  std::shared_ptr<bounded_retry_policy> retry_policy_;
  client_list clients_{};
  filter_registry filters_;
  chunk_loads loads_{};
  request_sessions sessions_{};
  store_health health_;
  // Destroyed first: their work uses all the others.
  worker_pool asides_{2};
  worker_pool workers_;
  worker_pool batches_;
};

}  // namespace everseen::serve
