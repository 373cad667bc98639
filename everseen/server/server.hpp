#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "everseen/server/filter_shelf.hpp"
#include "everseen/server/options.hpp"

namespace everseen::server {

/// Whether a server could be started so, as far as that can be known without starting it: must_be_safe, and
/// certificates and directories of sockets that are there.
/// @throws parameter_error  the options make no sense, or name a file that cannot be read
void must_be_able_to_begin(const options& o);

/// A server of filters over the Redis protocol and HTTP: listens, serves, and ends in order.
///
///     filter_server server(options, open_place("file:/var/lib/everseen"));
///     server.run_until([] { return is_signalled(); });
///
/// Connections are spread over threads, one event loop each. What is judged in memory is judged there; what
/// waits for a disk or for other servers runs on threads of its own: see session and join_queue.
class filter_server {
 public:
  /// Clients can connect from now on, and are served once it runs.
  /// @throws parameter_error  the options make no sense, or expose the server without a password
  /// @throws storage_error    an address is taken, or another server has the store
  /// @throws error            the store refuses us; one that is away is waited for while it is served
  filter_server(const options& o, const store_place& where);
  ~filter_server();
  filter_server(const filter_server&) = delete;
  filter_server& operator=(const filter_server&) = delete;

  /// Where it listens, with the ports that it was given.
  [[nodiscard]] std::vector<listen_address> addresses() const;
  [[nodiscard]] std::vector<listen_address> http_addresses() const;

  /// Serves until it is told to stop, or a client says SHUTDOWN; then answers what is under way and makes all
  /// that was acknowledged survive.
  /// @param must_stop  asked some times a second    @param stops  called when it begins to end, for whatever
  /// reason
  /// @throws storage_error  the disk refused the last sync
  void run_until(const std::function<bool()>& must_stop, const std::function<void()>& stops = {});

 private:
  class house;
  std::unique_ptr<house> house_;
};

}  // namespace everseen::server
