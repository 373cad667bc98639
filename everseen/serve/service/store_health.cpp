#include "everseen/serve/service/store_health.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "everseen/core/base/error.hpp"

namespace everseen::serve {

namespace {

/// How long a healthy store may take to answer.
constexpr std::chrono::milliseconds moment{700};

/// No filter has this name, as a name is not empty.
constexpr std::string_view nobody;

}  // namespace

void shared_check::begin() {
  const std::scoped_lock alone(lock_);
  begin_alone();
}

void shared_check::begin_alone() {
  if (is_under_way_) return;
  is_under_way_ = true;
  began_ = clock::now();
  where_.submit([this] {
    look_();
    const std::scoped_lock alone(lock_);
    is_under_way_ = false;
    ended_.notify_all();
  });
}

bool shared_check::refresh() {
  std::unique_lock alone(lock_);
  begin_alone();
  return ended_.wait_until(alone, began_ + moment, [this] { return !is_under_way_; });
}

store_health::store_health(filter_registry& filters, unsigned threads, std::function<void()> after_each)
    : filters_(filters),
      figures_(check_pool_, [this] { filters_.look_at_figures(); }),
      probe_(check_pool_, [this] { probe(); }),
      check_pool_(threads, std::move(after_each)) {}

void store_health::must_answer() {
  const bool has_ended = probe_.refresh();
  const std::scoped_lock alone(lock_);
  if (!fault_.empty()) throw backend_error(fault_);
  if (!has_ended) throw backend_error("the store does not answer in time");
}

void store_health::await_store(std::shared_ptr<telemetry::event_log> log) {
  log_ = std::move(log);
  awaits_ = true;
}

void store_health::poll_store() {
  if (awaits_) probe_.begin();
}

void store_health::greet() {
  if (!awaits_) return;
  log_warnings(filters_.place(), log_.get());
  awaits_ = false;
  if (log_) log_->write(telemetry::log_level::info, "store_is_back");
}

void store_health::probe() noexcept {
  std::string fault;
  try {
    (void)filters_.place().exists(nobody);  // any answer will do
    greet();
  } catch (const std::exception& why) {
    fault = why.what();
  }
  const std::scoped_lock alone(lock_);
  fault_ = std::move(fault);
}

namespace {

/// Does not retry, and records whether a retry could have helped.
class one_attempt final : public retry_policy {
 public:
  explicit one_attempt(telemetry::event_log* log) noexcept : log_(log) {}
  void on_silence(const std::string& why) override {
    if (log_ != nullptr) log_->write(telemetry::log_level::warning, "store_wait", {{"why", why}});
  }
  bool tries_again(const outage&) override {
    may_help_ = true;
    return false;
  }
  void on_recovered() override {}
  [[nodiscard]] bool may_help() const noexcept { return may_help_; }

 private:
  telemetry::event_log* const log_;
  std::atomic<bool> may_help_ = false;
};

}  // namespace

bool is_available(store& place, telemetry::event_log* log) {
  const auto once = std::make_shared<one_attempt>(log);
  const struct waiting {
    store& waited_for;
    ~waiting() { waited_for.wait_with(nullptr); }
  } as_before{place};
  place.wait_with(once);
  try {
    log_warnings(place, log);
    return true;
  } catch (const backend_error& why) {
    if (!once->may_help()) throw;
    if (log != nullptr)
      log->write(telemetry::log_level::error, "store_outage",
                 {{"why", why.what()}, {"until_then", "commands are answered by OUTAGE, /readyz by 503"}});
    return false;
  }
}

void log_warnings(const store& source, telemetry::event_log* log) {
  for (const std::string& warning : source.warnings(store::concern::keys))
    if (log != nullptr) log->write(telemetry::log_level::warning, "store_warning", {{"why", warning}});
}

}  // namespace everseen::serve
