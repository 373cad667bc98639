#include "everseen/cli/verb/store_wait.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/core/base/quantity.hpp"

namespace everseen::cli {

namespace {

/// Shorter waits are not reported: about a second, at which the first of two attempts within two seconds
/// fails.
constexpr std::chrono::milliseconds short_wait{900};

}  // namespace

bool store_wait::tries_again(const outage& trouble) {
  if (is_signalled()) return false;
  const auto limit = limit_.value_or(trouble.limit);
  if (trouble.lasted >= limit) return false;
  if (trouble.lasted >= short_wait) show(trouble.why, limit);
  return true;
}

void store_wait::on_silence(const std::string& why) {
  show(why, std::chrono::milliseconds(0));
}

void store_wait::show(const std::string& why, std::chrono::milliseconds limit) {
  const std::scoped_lock alone(lock_);
  // Without the advice, which the error at the end repeats, it is one line.
  std::string text = "waiting: " + why.substr(0, why.find(';'));
  if (limit.count() > 0 && limit < for_ever) text += fmt::format(" (for {} at most)", format_duration(limit));
  if (::isatty(STDERR_FILENO) == 0) {
    if (!has_said_) fmt::print(stderr, "everseen: {}\n", text);
  } else {
    if (!line_) line_.emplace(std::nullopt, std::string(), false);
    line_->show(text);
  }
  has_said_ = true;
}

void store_wait::on_recovered() {
  const std::scoped_lock alone(lock_);
  line_.reset();  // erases it
  has_said_ = false;
}

}  // namespace everseen::cli
