/// The options of `everseen serve`.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/serve/base/options.hpp"
#include "everseen/telemetry/event_log.hpp"

namespace everseen::cli {

struct serve_options {
  store_choice store;
  std::vector<std::string> listen, http, http_hosts, users;
  std::optional<std::string> password, user_file, tls_cert, tls_key, tls_ca;
  std::optional<std::uint64_t> threads, store_threads, max_connections, max_memory, max_request, max_bodies,
      max_output;
  std::optional<std::chrono::milliseconds> idle_timeout, request_timeout, write_timeout;
  std::optional<telemetry::log_format> log_format;
  std::optional<telemetry::log_level> log_level;
  std::optional<std::string> config;  ///< read before these options: see configuration.hpp
  bool open_to_strangers = false;
  bool redisbloom = false;
  bool quiet = false;
  bool check_config = false;
};

void add_serve_options(option_set& known, serve_options& target);

/// @throws parameter_error  invalid options    @throws storage_error  the file of users
[[nodiscard]] serve::options settings_of(const serve_options& o);

/// NAME:PASSWORD:read|write|admin. A password may contain colons.
/// @param where  for the message, which does not repeat the password    @throws parameter_error
[[nodiscard]] serve::user_account parse_user(const std::string& where, std::string_view text);

/// One account a line. Empty lines and lines that begin with # are ignored.
/// @throws parameter_error  names the line    @throws storage_error  it cannot be read
[[nodiscard]] std::vector<serve::user_account> read_users(const std::string& path);

}  // namespace everseen::cli
