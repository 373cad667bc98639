#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "everseen/serve/base/options.hpp"
#include "everseen/serve/registry/filter_registry.hpp"

namespace everseen::serve {

/// Checks whether a server could start with these options, without starting it: must_be_safe, and whether
/// certificates and directories of sockets exist.
/// @throws parameter_error  the options are invalid, or name a file that cannot be read
void must_be_able_to_begin(const options& o);

/// A server of filters over the Redis protocol and HTTP: listens, serves, and ends in order.
///
///     filter_server server(options, open_store("file:/var/lib/everseen"));
///     server.run_until([] { return is_signalled(); });
///
/// Connections are distributed over threads with one event loop each. Filters in memory are judged there;
/// whatever waits for a disk or another server runs on separate threads: see session and join_queue.
class filter_server {
 public:
  /// Clients can connect from now on, and are served once it runs.
  /// @throws parameter_error  the options are invalid, or expose the server without a password
  /// @throws storage_error    an address is taken, or another server has the store
  /// @throws error            the store refuses access; an unavailable one is retried while serving
  filter_server(const options& o, const std::shared_ptr<store>& place);
  ~filter_server();
  filter_server(const filter_server&) = delete;
  filter_server& operator=(const filter_server&) = delete;

  /// The addresses on which it listens, with their assigned ports.
  [[nodiscard]] std::vector<listen_address> addresses() const;
  [[nodiscard]] std::vector<listen_address> http_addresses() const;

  /// Serves until must_stop() or a client's SHUTDOWN; then answers requests in progress and syncs all
  /// acknowledged changes.
  /// @param must_stop  called several times a second    @param stops  called when it begins to end, for any
  ///         reason
  /// @throws storage_error  the disk refused the last sync
  void run_until(const std::function<bool()>& must_stop, const std::function<void()>& stops = {});

 private:
  class runtime;
  std::unique_ptr<runtime> runtime_;
};

}  // namespace everseen::serve
