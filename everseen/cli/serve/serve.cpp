#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/serve/base/options.hpp"
#include "everseen/serve/server.hpp"
#include "everseen/telemetry/event_log.hpp"

namespace everseen::cli {

namespace {

// The options of `everseen serve`.

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

/// NAME:PASSWORD:read|write|admin. The password is what is between the first and the last colon, so it may
/// have colons; a name may not.
/// @param where  for the message, which does not repeat the password    @throws parameter_error
serve::user_account parse_user(const std::string& where, std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t last = text.rfind(':');
  const auto malformed = [&] {
    return parameter_error(where + " takes NAME:PASSWORD:read, :write or :admin");
  };
  if (first == std::string_view::npos || first == last || first == 0) throw malformed();
  const std::string_view may = text.substr(last + 1);
  serve::user_account user{std::string(text.substr(0, first)),
                           std::string(text.substr(first + 1, last - first - 1)), serve::right::read};
  if (may == "write")
    user.may = serve::right::write;
  else if (may == "admin")
    user.may = serve::right::admin;
  else if (may != "read")
    throw malformed();
  if (user.password.empty()) throw parameter_error(fmt::format("{}: {} has no password", where, user.name));
  return user;
}

/// One account a line. Empty lines and lines that begin with # are ignored.
/// @throws parameter_error  names the line    @throws storage_error  it cannot be read
std::vector<serve::user_account> read_users(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw parameter_error(fmt::format("cannot read the users in {}: {}", path, std::strerror(errno)));
  std::vector<serve::user_account> users;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    users.push_back(parse_user(fmt::format("{}:{}: a line", path, number), line));
  }
  if (users.empty()) throw parameter_error(path + " names no user; each line is NAME:PASSWORD:RIGHT");
  return users;
}

std::chrono::seconds seconds_of(std::chrono::milliseconds time) {
  return std::max(std::chrono::seconds(1), std::chrono::duration_cast<std::chrono::seconds>(time));
}

/// An empty text means no address.
std::vector<serve::listen_address> addresses_of(const std::vector<std::string>& texts) {
  std::vector<serve::listen_address> all;
  for (const std::string& each : texts)
    if (!each.empty()) all.push_back(serve::parse_listen_address(each));
  return all;
}

std::vector<serve::user_account> users_of(const serve_options& o) {
  std::vector<serve::user_account> users;
  if (o.password && o.password->empty())
    throw parameter_error("--password is empty, so it would let everybody in; is a variable unset?");
  if (o.password) users.push_back({"default", *o.password, serve::right::admin});
  for (const std::string& each : o.users) users.push_back(parse_user("--user", each));
  if (o.user_file)
    for (serve::user_account& each : read_users(*o.user_file)) users.push_back(std::move(each));
  return users;
}

void set_limits(const serve_options& o, serve::options& s) {
  s.threads = static_cast<unsigned>(o.threads.value_or(s.threads));
  s.store_threads = static_cast<unsigned>(o.store_threads.value_or(s.store_threads));
  s.max_connections = o.max_connections.value_or(s.max_connections);
  s.max_memory_bytes = o.max_memory;
  if (o.max_request) {
    s.request.request_bytes = *o.max_request;
    s.request.argument_bytes = std::min(s.request.argument_bytes, s.request.request_bytes);
  }
  s.requests_bytes = o.max_bodies.value_or(std::max(s.requests_bytes, 2 * s.request.request_bytes));
  s.output_bytes = o.max_output.value_or(s.output_bytes);
  if (o.idle_timeout) s.idle_timeout = seconds_of(*o.idle_timeout);
  if (o.request_timeout) s.request_timeout = seconds_of(*o.request_timeout);
  if (o.write_timeout) s.write_timeout = seconds_of(*o.write_timeout);
}

void add_addresses(option_set& known, serve_options& o) {
  add_texts(known, "-l,--listen", o.listen,
            {"ADDRESS",
             "where Redis clients connect: ADDRESS:PORT, tls:ADDRESS:PORT or unix:PATH; may be repeated, '' "
             "is nowhere",
             "127.0.0.1:6380"});
  add_texts(known, "--http", o.http,
            {"ADDRESS", "where HTTP clients connect, in the same form; may be repeated", "nowhere"});
  add_texts(known, "--http-host", o.http_hosts,
            {"NAME", "host name that a proxy on this machine uses for the HTTP interface; may be repeated",
             "localhost"});
}

void add_security(option_set& known, serve_options& o) {
  add_text(known, "--password", o.password,
           {"TEXT", "required from every client, which may then do everything"});
  add_texts(known, "--user", o.users,
            {"NAME:PASSWORD:RIGHT", "a user with the right read, write or admin; may be repeated"});
  add_text(known, "--user-file", o.user_file,
           {"FILE", "a file with more users, one per line, hidden from ps"});
  add_switch(known, "--open-to-strangers", o.open_to_strangers,
             "accept Redis clients from other machines without a password");
  add_text(known, "--tls-cert", o.tls_cert, {"FILE", "certificate chain for tls: listeners, in PEM"});
  add_text(known, "--tls-key", o.tls_key, {"FILE", "its private key"});
  add_text(known, "--tls-ca", o.tls_ca, {"FILE", "require clients to have a certificate signed by this CA"});
}

void add_limits(option_set& known, serve_options& o) {
  add_count(known, "--maxmemory", o.max_memory, {0, std::uint64_t{1} << 62},
            {"BYTES", "memory or disk space for all filters, as in 4Gi; 0: no limit",
             "what the store has room for"});
  add_count(known, "--threads", o.threads, {1, 1024},
            {"COUNT", "threads for connections", "one a processor"});
  add_count(known, "--store-threads", o.store_threads, {1, 1024},
            {"COUNT", "threads that wait for disks and servers", "8"});
  add_count(known, "--max-connections", o.max_connections, {1, 1'000'000},
            {"COUNT", "maximum number of clients", "10k"});
  add_count(known, "--max-request", o.max_request, {1024, std::uint64_t{1} << 32},
            {"BYTES", "maximum size of a request", "64Mi"});
  add_count(known, "--max-bodies", o.max_bodies, {1024, std::uint64_t{1} << 40},
            {"BYTES",
             "memory for the incomplete and queued (MULTI) requests of all clients; more is refused with OOM "
             "or 503",
             "256Mi, or twice --max-request"});
  add_count(known, "--max-output", o.max_output, {1024, std::uint64_t{1} << 40},
            {"BYTES", "replies kept for a client; requests of that client wait when it is reached", "64Mi"});
  add_duration(known, "--idle-timeout", o.idle_timeout,
               {"TIME", "disconnect clients without requests after this time", "never; HTTP: 75s"});
  add_duration(known, "--request-timeout", o.request_timeout,
               {"TIME", "for the rest of an incomplete request, a TLS handshake, a password", "1m"});
  add_duration(known, "--write-timeout", o.write_timeout,
               {"TIME", "for a client to take the next bytes of a reply", "1m"});
}

void add_operation(option_set& known, serve_options& o) {
  add_choice(known, "--log-format", o.log_format,
             {"text|json|logfmt", "format of messages on standard error", "text"},
             telemetry::parse_log_format);
  add_choice(known, "--log-level", o.log_level,
             {"debug|info|warning|error|off", "least severe messages written", "warning"},
             telemetry::parse_log_level);
  add_text(
      known, "--config", o.config,
      {"FILE", "options from the table [serve] of a TOML file, under the same names", "$EVERSEEN_CONFIG"});
  add_switch(known, "--check-config", o.check_config,
             "print the options in effect and their origins, and exit");
  add_switch(known, "-q,--quiet", o.quiet, "do not print where it listens");
}

void add_serve_options(option_set& known, serve_options& o) {
  add_addresses(known, o);
  add_store_url(known, o.store);
  add_security(known, o);
  add_switch(known, "--redisbloom", o.redisbloom,
             "make filters with RedisBloom's own layout, so that BF.SCANDUMP gives them out and EXPANSION is "
             "obeyed; slower");
  add_limits(known, o);
  add_operation(known, o);
}

/// @throws parameter_error  invalid options    @throws storage_error  the file of users
serve::options settings_of(const serve_options& o) {
  serve::options s;
  s.listen = addresses_of(o.listen.empty() ? std::vector<std::string>{"127.0.0.1:6380"} : o.listen);
  s.http = addresses_of(o.http);
  s.http_hosts = o.http_hosts;
  std::erase(s.http_hosts, "");
  s.tls = {o.tls_cert.value_or(""), o.tls_key.value_or(""), o.tls_ca.value_or("")};
  s.users = users_of(o);
  s.redisbloom_layout = o.redisbloom;
  s.open_to_strangers = o.open_to_strangers;
  set_limits(o, s);
  s.log = std::make_shared<telemetry::event_log>(o.log_format.value_or(telemetry::log_format::text),
                                                 o.log_level.value_or(telemetry::log_level::warning));
  return s;
}

using telemetry::log_level;

/// Reports the state of this process to its supervisor: systemd's Type=notify.
///
///     tell_supervisor("READY=1");
///
/// Sends one datagram to the socket in $NOTIFY_SOCKET. Does nothing if it is unset or nobody listens.
void tell_supervisor(std::string_view state) noexcept {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = path == nullptr ? 0 : std::strlen(path);
  if (length < 2 || length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // an abstract socket
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  [[maybe_unused]] const ssize_t sent = ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL,
                                                 reinterpret_cast<const sockaddr*>(&address), size);
  ::close(socket);
}

void tell_addresses(const serve::filter_server& server, const serve_options& o, telemetry::event_log& log,
                    printer& out) {
  for (const serve::listen_address& each : server.addresses()) {
    log.write(log_level::info, "listening", {{"protocol", "resp"}, {"at", each.text()}});
    if (!o.quiet) out.print("listening on {}\n", each.text());
  }
  for (const serve::listen_address& each : server.http_addresses()) {
    log.write(log_level::info, "listening", {{"protocol", "http"}, {"at", each.text()}});
    if (!o.quiet) out.print("listening for HTTP on {}\n", each.text());
  }
  out.flush();  // the process that starts the server waits for this
}

exit_code run_serve(const serve_options& o, printer& out) {
  const serve::options settings = settings_of(o);
  serve::must_be_able_to_begin(settings);
  const auto place = open_store(store_url(o.store.url));
  if (o.check_config) return exit_code::done;
  note_signals();
  telemetry::event_log& log = *settings.log;
  serve::filter_server server(settings, place);
  log.write(log_level::info, "serving",
            {{"version", EVERSEEN_VERSION},
             {"users", static_cast<std::int64_t>(settings.users.size())},
             {"max_connections", static_cast<std::int64_t>(settings.max_connections)}});
  tell_addresses(server, o, log, out);
  tell_supervisor("READY=1");
  server.run_until(is_signalled, [] { tell_supervisor("STOPPING=1"); });
  log.write(log_level::info, "stopped");
  return exit_code::done;
}

action declare_serve(option_set& known) {
  auto o = std::make_shared<serve_options>();
  add_serve_options(known, *o);
  return [o](printer& out) { return run_serve(*o, out); };
}

}  // namespace

verb serve_verb() {
  return {
      "serve",
      "Serve filters to clients of Redis, by the commands of RedisBloom",
      "Programs in any language use the filters through the BF. commands of their Redis client. With a Redis "
      "behind it (--store redis://...) it offers these commands for servers without modules, spreads one "
      "filter over many servers, and combines simultaneous requests of many clients into few batches. With "
      "--http it also serves the filters over HTTP, with metrics for Prometheus and a description at "
      "/openapi.json.\n\nIt serves until SIGTERM, SIGINT or SHUTDOWN; then it answers pending requests and "
      "syncs. Without a password, it listens on this machine only, unless --open-to-strangers is "
      "given.\n\nOptions may also be given in the environment (EVERSEEN_MAX_CONNECTIONS) and in the table "
      "[serve] of the TOML file of --config. The command line takes precedence, then the environment. The "
      "manual is doc/operations.md.",
      {{"Filters in memory, asked by redis-cli",
        "everseen serve --store mem: --listen unix:./s & sleep 1; redis-cli -s ./s BF.ADD clicks alice; kill "
        "$!; wait"},
       {"Filters in files, for a program that may look but not add",
        "everseen serve --listen unix:./s --password secret --user app:word:read & sleep 1; kill $!; wait"},
       {"Show the options in effect", "everseen serve --http 127.0.0.1:8080 --check-config"}},
      declare_serve,
      is_configurable::yes};
}

}  // namespace everseen::cli
