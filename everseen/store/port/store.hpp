#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/port/filter_admin.hpp"
#include "everseen/store/port/retry_policy.hpp"
#include "everseen/store/port/stored_filter.hpp"

namespace everseen {

/// Properties of a store as a whole.
struct store_traits {
  /// Whether a batch mostly waits for another machine, so that more threads than processors are useful.
  bool is_remote = false;
  /// Whether a batch waits for a round trip or a sync.
  bool batches_wait = false;
  /// Whether filters are lost when this process ends.
  bool is_memory = false;
  /// Whether jobs can be asked for and worked on; else jobs() and the like throw a parameter_error.
  bool offers_jobs = true;
  /// Total bytes available for filters, as far as known: the memory of this machine, or the disk space that
  /// is free now. A filter whose first layer is larger could never be filled.
  std::optional<std::uint64_t> room_bytes{};
  /// The longest segment, regardless of space; nothing: any.
  std::optional<std::uint64_t> longest_segment_bytes{};
  /// The directory that its filters are in; empty: none.
  std::filesystem::path directory{};
};

/// What a server of a store reports about itself. Counts are since its start.
struct server_report {
  std::string server;  ///< its address, for people
  std::string id{};    ///< of this run of it; empty: it is the only one of its store
  std::uint64_t clients = 0;
  std::uint64_t commands = 0;
  std::uint64_t errors = 0;  ///< replies that were errors; of everseen serve: outages of its own store
  std::uint64_t bytes = 0;
  std::uint64_t max_bytes = 0;  ///< 0: no limit
};

/// Keeps filters by name: creates, opens and lists them. filter_admin has all other operations.
///
/// To add a kind of store, implement this, filter_admin and stored_filter; stored_filter alone is called for
/// each batch. Threads: any number may call any function.
class store : public filter_admin {
 public:
  /// The properties of this store.    Cost: no round trip.
  [[nodiscard]] virtual store_traits traits() const = 0;

  /// make_spec with the defaults of this store, since the cost of a key differs between memory and a server.
  /// @throws parameter_error  as make_spec; also if clients are to judge and there are no servers
  [[nodiscard]] virtual spec plan(const spec_request& request) const;

  /// Creates an empty filter and opens it for writing.
  /// @param life  the filter expires after this time, whether it is in use or not; nothing: never
  /// @throws name_taken       a filter of this name exists    @throws storage_error
  /// @throws parameter_error  it would live for less than a second
  virtual std::shared_ptr<stored_filter> create(std::string_view name, const spec& s,
                                                std::optional<std::chrono::milliseconds> life = {}) = 0;

  /// Opens an existing filter.
  /// @throws no_filter        no filter has this name; filter_expired: it has expired
  /// @throws format_error     it is damaged, or of another version    @throws backend_error
  /// @throws storage_error    another process is writing to it, or files cannot be read
  virtual std::shared_ptr<stored_filter> open(std::string_view name, access mode) = 0;

  /// Whether a filter has this name and has not expired.    @throws storage_error, backend_error
  [[nodiscard]] virtual bool exists(std::string_view name) const = 0;

  /// Names in ascending order, including damaged filters; opening those reports the damage.
  [[nodiscard]] virtual std::vector<std::string> list() const = 0;

  /// The subject of warnings. Warnings about jobs also cover crashes in which the store could lose
  /// acknowledged data, so that a job would lose events or count too few.
  enum class concern : std::uint8_t { keys, jobs };
  /// Conditions under which filters of this store could lose or refuse keys, one readable sentence each.
  /// @throws backend_error  a server does not answer
  [[nodiscard]] virtual std::vector<std::string> warnings(concern /*about*/) const { return {}; }

  /// The reports of its servers, but of those that refuse them; none of memory and files.
  /// Cost: a round trip.
  /// @throws backend_error  a server does not answer
  [[nodiscard]] virtual std::vector<server_report> reports() const { return {}; }

  /// Lets `p` decide how long calls of this store and its filters are retried while it is unavailable, from
  /// the next call on. Files are unavailable while another process writes to them; memory never is.
  /// @param p  null: the store's own limit    @return the policy before
  virtual std::shared_ptr<retry_policy> wait_with(std::shared_ptr<retry_policy> /*p*/) { return nullptr; }
};

/// The error for a name that no filter of a store has: with the nearest name, or how to list them.
///
/// Cost: lists the store; without a suggestion if that fails.
[[nodiscard]] no_filter unknown_filter(const store& in, std::string_view name);

/// The result of `call`; reports an unknown name as unknown_filter() does.
template <typename Call>
decltype(auto) with_known_filter(const store& in, std::string_view name, Call call) {
  try {
    return call();
  } catch (const filter_expired&) {
    throw;
  } catch (const no_filter&) {
    throw unknown_filter(in, name);
  }
}

}  // namespace everseen
