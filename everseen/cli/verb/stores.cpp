#include "everseen/cli/verb/stores.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/core/spec/time_text.hpp"
#include "everseen/core/spec/window.hpp"
#include "everseen/store/port/time_source.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

std::optional<std::string> environment_value(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

std::string store_url(const std::optional<std::string>& given) {
  if (given) return *given;
  if (auto url = environment_value("EVERSEEN_STORE")) return *url;
  // The XDG base directory specification calls relative paths invalid, to be ignored.
  if (const auto data = environment_value("XDG_DATA_HOME"); data && data->starts_with('/'))
    return "file:" + *data + "/everseen";
  if (const auto home = environment_value("HOME")) return "file:" + *home + "/.local/share/everseen";
  throw parameter_error("there is no place for filters: give --store URL, or set EVERSEEN_STORE or HOME");
}

void add_store_url(option_set& known, store_choice& target) {
  add_text(known, "--store", target.url,
           {"URL", "where filters live, as in file:DIRECTORY, redis://HOST:PORT or everseen://HOST:PORT",
            "$EVERSEEN_STORE, else your data directory"});
}

void add_store_options(option_set& known, store_choice& target, access use) {
  add_store_url(known, target);
  add_duration(known, "--timeout", target.timeout,
               {"TIME",
                use == access::read
                    ? "how long to wait for servers that do not answer"
                    : "how long to wait for servers that do not answer and, with --wait, for another process",
                "retry_for of the URL"});
  if (use == access::read) return;
  add_switch(known, "--wait", target.waits,
             "in files: if another process is writing to the filter, wait until it has ended");
}

std::shared_ptr<store> open_chosen(const store_choice& choice) {
  const std::string url = store_url(choice.url);
  auto place = open_store(url, choice.timeout);
  // For servers open_store() has it already. In files a wait is for another process, and only on request.
  std::optional<std::chrono::milliseconds> limit;
  if (choice.waits && !place->traits().is_remote) limit = choice.timeout.value_or(store_wait::for_ever);
  place->wait_with(std::make_shared<store_wait>(limit));
  return place;
}

std::shared_ptr<store> chosen_store(const store_choice& choice) {
  if (store_url(choice.url) == "mem:")
    throw parameter_error(
        "a mem: store would end with this command; use file:DIRECTORY, redis://HOST:PORT or "
        "everseen://HOST:PORT");
  return open_chosen(choice);
}

std::unique_ptr<redis::fleet_servers> chosen_redis(const store_choice& choice) {
  const std::string url = store_url(choice.url);
  if (!redis::is_redis_url(url)) return {};
  auto servers = std::make_unique<redis::fleet_servers>(
      redis::answered_within(redis::parse_redis_url(url), choice.timeout));
  servers->named()->wait_with(std::make_shared<store_wait>(std::nullopt));
  return servers;
}

std::string shown_store(const store_choice& choice) {
  return without_controls(url_without_password(store_url(choice.url)));
}

void must_have_room(const store& where, const spec& s) {
  const auto room = where.traits().room_bytes;
  const double wanted = static_cast<double>(growth::plan_layer(s, 0).shape.bytes) * s.partitions;
  if (!room || wanted <= static_cast<double>(*room)) return;
  throw parameter_error(fmt::format(
      "a filter for {} keys takes {}, and the store has room for {}; lower the capacity (a filter "
      "grows when it must), raise the error rate, or take another store",
      format_count(s.capacity), format_bytes(wanted), format_bytes(static_cast<double>(*room))));
}

/// A key with a time far ahead moves the window there, and all keys of today are late from then on.
std::optional<std::string> future_warning(const filter_info& info) {
  const auto& window = info.spec.window;
  std::optional<window::slice_index> newest;
  for (const partition_state& state : info.partitions)
    if (!state.slices.empty())
      newest = std::max(newest.value_or(state.slices.back().index), state.slices.back().index);
  if (!window || !newest) return std::nullopt;
  const event_time begin = window::start_of(*window, *newest);
  if (begin <= window::latest_accepted(*window, wall_clock())) return std::nullopt;
  return fmt::format(
      "a key had the time {}, so keys are late until {}; to empty the filter: everseen reset {}",
      format_event_time(begin), format_event_time(begin - window->width), name_argument(info.name));
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print(stderr, "everseen: warning: {}\n", warning);
}

void warn_of(const store& place, store::concern about) {
  print_warnings(place.warnings(about));
}

bool confirmed(const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0) return true;
  fmt::print(stderr, "{} [y/N] ", question);
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y';
}

filter chosen_filter(const store_choice& choice, std::string_view name, access mode) {
  return open(*chosen_store(choice), name, mode);
}

void sync_as_it_ends(const store& home, filter& written) {
  if (!home.traits().is_remote) written.sync();
}

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
