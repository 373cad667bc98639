#include "everseen/serve/service/startup_check.hpp"

#include <atomic>
#include <memory>
#include <string>

#include "everseen/core/base/error.hpp"

namespace everseen::serve {

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
