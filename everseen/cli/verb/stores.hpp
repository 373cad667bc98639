/// The store of a verb, and the named filter in it.

#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/terminal/progress.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/open_store.hpp"
#include "everseen/redis/keyspace/server_fleet.hpp"
#include "everseen/store/port/retry_policy.hpp"
#include "everseen/store/port/store.hpp"

namespace everseen::cli {

/// Where filters live: --store, else $EVERSEEN_STORE, else a directory of the user,
/// file:$XDG_DATA_HOME/everseen or file:$HOME/.local/share/everseen.
/// @throws parameter_error  none of these is set
[[nodiscard]] std::string store_url(const std::optional<std::string>& given);

/// The options --store, --timeout and --wait of a verb.
struct store_choice {
  std::optional<std::string> url{};
  std::optional<std::chrono::milliseconds> timeout{};
  bool waits = false;
};

/// --store and --timeout; a verb that opens filters for writing also has --wait.
void add_store_options(option_set& known, store_choice& target, access use = access::read);
/// --store alone: a server has its own rules for waiting.
void add_store_url(option_set& known, store_choice& target);

/// The chosen store. While it waits for a server or another process, it says so: see store_wait.
/// @throws parameter_error  as store_url    @throws as open_store(url)
[[nodiscard]] std::shared_ptr<store> open_chosen(const store_choice& choice);

/// The same, for a verb that needs a store which outlives it.    @throws parameter_error  also for `mem:`
[[nodiscard]] std::shared_ptr<store> chosen_store(const store_choice& choice);

/// The Redis servers of the chosen store; null if it is another kind of store.    @throws  as chosen_store
[[nodiscard]] std::unique_ptr<redis::fleet_servers> chosen_redis(const store_choice& choice);

/// The URL of the chosen store without its password, for people.    @throws parameter_error  as store_url
[[nodiscard]] std::string shown_store(const store_choice& choice);

/// @throws parameter_error  the store knows that a new filter can never fit
void must_have_room(const store& where, const spec& s);
/// If a slice in the future makes the keys of today late: until when, and what to do.
[[nodiscard]] std::optional<std::string> future_warning(const filter_info& info);
void print_warnings(const std::vector<std::string>& warnings);
/// Prints a store's warnings on standard error.    @throws  as store::warnings
void warn_of(const store& place, store::concern about = store::concern::keys);

/// Asks the user at a terminal; without a terminal the answer is yes.
[[nodiscard]] bool confirmed(const std::string& question);

/// A filter of the chosen store.    @throws as everseen::open
[[nodiscard]] filter chosen_filter(const store_choice& choice, std::string_view name, access mode);

/// Syncs a filter in files under every policy, as closing it does, which cannot report a failure. A server
/// has its own policy.
/// @throws storage_error
void sync_as_it_ends(const store& home, filter& written);

/// What a verb does while it waits for its store, for a server that does not answer or for a process that has
/// the filter open: it says so on standard error after a second. A terminal shows it until the wait has
/// ended; elsewhere it is one line.
class store_wait final : public retry_policy {
 public:
  /// Shown as no limit at all.
  static constexpr std::chrono::hours for_ever{24 * 36'500};

  /// @param limit  nothing: as long as the store itself would
  explicit store_wait(std::optional<std::chrono::milliseconds> limit) : limit_(limit) {}

  /// A signal ends the wait.
  bool tries_again(const outage& trouble) override;
  void on_silence(const std::string& why) override;
  void on_recovered() override;
  /// A server is waited for as long as the store itself would.
  [[nodiscard]] bool may_take_hours() const noexcept override { return false; }

 private:
  void show(const std::string& why, std::chrono::milliseconds limit);

  const std::optional<std::chrono::milliseconds> limit_;
  std::mutex lock_;  // guards the members below
  bool has_said_ = false;
  std::optional<progress_line> line_{};
};

}  // namespace everseen::cli
