#include "everseen/serve/service/service.hpp"

#include <algorithm>
#include <utility>

namespace everseen::serve {

namespace {

/// Threads that only check the state of the store.
constexpr unsigned check_threads = 2;

/// Compares in a time that depends only on the length of the tried password.
bool is_same(std::string_view secret, std::string_view tried) noexcept {
  unsigned difference = secret.size() == tried.size() ? 0 : 1;
  for (std::size_t i = 0; i < tried.size(); ++i)
    difference |= static_cast<unsigned char>(tried[i]) ^
                  static_cast<unsigned char>(secret.empty() ? ~tried[i] : secret[i % secret.size()]);
  return difference == 0;
}

}  // namespace

service::service(serve::options o, std::shared_ptr<store> place)
    : settings_(std::move(o)),
      started_(now()),
      stats_(settings_.log),
      retry_policy_(std::make_shared<bounded_retry_policy>(
          bounded_retry_policy::limits{std::max(1U, settings_.store_threads / 2), settings_.store_threads},
          [this] { return is_stopping_ || stats_.gives_up(); })),
      filters_(std::move(place), settings_, {workers_, batches_}, stats_),
      health_(filters_, check_threads, [p = retry_policy_] { p->leave(); }),
      workers_(2 * settings_.store_threads, [p = retry_policy_] { p->leave(); }),
      batches_(settings_.store_threads, [p = retry_policy_] { p->leave(); }) {
  filters_.place().wait_with(retry_policy_);
  count.last_save_s = std::chrono::duration_cast<std::chrono::seconds>(started_.time_since_epoch()).count();
  tunable.max_connections = settings_.max_connections;
  tunable.idle_timeout_s = settings_.idle_timeout.count();
}

service::~service() {
  filters_.place().wait_with(nullptr);
}

bool service::drop(std::string_view key) {
  loads_.forget(key);
  return filters_.drop(key);
}

service::identity service::identify(std::string_view network, std::optional<std::string_view> name,
                                    std::string_view password) {
  const auto tried = guess_limit::clock::now();
  if (!guesses_.may_try(network, tried)) return {nullptr, true};
  const user_account* found = nullptr;
  for (const user_account& each : settings_.users)
    if (is_same(each.password, password) && (!name || each.name == *name)) found = &each;
  if (found == nullptr)
    guesses_.was_wrong(network, tried);
  else
    guesses_.was_right(network, tried);
  return {found, false};
}

bool has_password(const user_account& user, std::string_view tried) noexcept {
  return is_same(user.password, tried);
}

event_time service::now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

}  // namespace everseen::serve
