#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/numbers.hpp"
#include "everseen/cli/options.hpp"
#include "everseen/cli/printer.hpp"
#include "everseen/cli/repeated_option.hpp"
#include "everseen/cli/signals.hpp"
#include "everseen/cli/stores.hpp"
#include "everseen/cli/verbs.hpp"
#include "everseen/core/error.hpp"
#include "everseen/server/server.hpp"

namespace everseen::cli {

namespace {

struct options {
  store_choice store;
  std::vector<std::string> listen, users;
  std::optional<std::string> password, tls_cert, tls_key, tls_ca;
  std::optional<std::uint64_t> threads, store_threads, max_connections, max_memory, max_request, max_output;
  std::optional<std::chrono::milliseconds> idle_timeout, request_timeout, write_timeout;
  bool open_to_strangers = false;
  bool redisbloom = false;
  bool quiet = false;
};

/// NAME:PASSWORD:read|write|admin. A password may hold colons.
server::user_account parse_user(std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t last = text.rfind(':');
  if (first == std::string_view::npos || first == last || first == 0)
    throw parameter_error("--user takes NAME:PASSWORD:read, :write or :admin");
  const std::string_view may = text.substr(last + 1);
  server::user_account user{std::string(text.substr(0, first)),
                            std::string(text.substr(first + 1, last - first - 1)), server::right::read};
  if (may == "write")
    user.may = server::right::write;
  else if (may == "admin")
    user.may = server::right::admin;
  else if (may != "read")
    throw parameter_error("--user takes NAME:PASSWORD:read, :write or :admin");
  if (user.password.empty()) throw parameter_error("--user " + user.name + " has no password");
  return user;
}

std::chrono::seconds seconds_of(std::chrono::milliseconds time) {
  return std::max(std::chrono::seconds(1), std::chrono::duration_cast<std::chrono::seconds>(time));
}

server::options settings_of(const options& o) {
  server::options s;
  for (const std::string& each : o.listen) s.listen.push_back(server::parse_listen_address(each));
  if (s.listen.empty()) s.listen.push_back(server::parse_listen_address("127.0.0.1:6380"));
  s.tls = {o.tls_cert.value_or(""), o.tls_key.value_or(""), o.tls_ca.value_or("")};
  if (o.password) s.users.push_back({"default", *o.password, server::right::admin});
  for (const std::string& each : o.users) s.users.push_back(parse_user(each));
  s.redisbloom_layout = o.redisbloom;
  s.open_to_strangers = o.open_to_strangers;
  s.threads = static_cast<unsigned>(o.threads.value_or(s.threads));
  s.store_threads = static_cast<unsigned>(o.store_threads.value_or(s.store_threads));
  s.max_connections = o.max_connections.value_or(s.max_connections);
  s.max_memory_bytes = o.max_memory;
  if (o.max_request) {
    s.request.request_bytes = *o.max_request;
    s.request.argument_bytes = std::min(s.request.argument_bytes, s.request.request_bytes);
  }
  s.output_bytes = o.max_output.value_or(s.output_bytes);
  if (o.idle_timeout) s.idle_timeout = seconds_of(*o.idle_timeout);
  if (o.request_timeout) s.request_timeout = seconds_of(*o.request_timeout);
  if (o.write_timeout) s.write_timeout = seconds_of(*o.write_timeout);
  return s;
}

exit_code run(const options& o, printer& out) {
  note_signals();
  const std::string url = store_url(o.store.url);
  const server::store_place place = server::open_place(url);
  warn_of(*place.store);
  server::resp_server server(settings_of(o), place);
  if (!o.quiet)
    for (const server::listen_address& each : server.addresses()) out.print("listening on {}\n", each.text());
  out.flush();  // whoever starts the server waits for it
  server.run_until(is_signalled);
  return exit_code::done;
}

action declare(CLI::App& app) {
  auto o = std::make_shared<options>();
  add_texts(app, "-l,--listen", o->listen,
            {"ADDRESS", "where clients come in: ADDRESS:PORT, tls:ADDRESS:PORT or unix:PATH; may be repeated",
             "127.0.0.1:6380"});
  add_store_option(app, o->store);
  add_text(app, "--password", o->password, {"TEXT", "asked of every client; it may then do everything"});
  add_texts(app, "--user", o->users,
            {"NAME:PASSWORD:RIGHT", "who may log in, to read, write or admin; may be repeated"});
  add_switch(app, "--open-to-strangers", o->open_to_strangers,
             "listen beyond this machine without a password");
  add_switch(app, "--redisbloom", o->redisbloom,
             "make filters with RedisBloom's own layout, so that BF.SCANDUMP gives them out and EXPANSION is "
             "obeyed; "
             "slower");
  add_text(app, "--tls-cert", o->tls_cert, {"FILE", "certificate chain of the listeners tls:, in PEM"});
  add_text(app, "--tls-key", o->tls_key, {"FILE", "its private key"});
  add_text(app, "--tls-ca", o->tls_ca, {"FILE", "ask clients for a certificate that this CA vouches for"});
  add_count(app, "--maxmemory", o->max_memory, {1, std::uint64_t{1} << 62},
            {"BYTES", "that all filters may take, as in 4Gi", "what the store has room for"});
  add_count(app, "--threads", o->threads, {1, 1024}, {"COUNT", "that serve connections", "one a processor"});
  add_count(app, "--store-threads", o->store_threads, {1, 1024},
            {"COUNT", "that wait for disks and servers", "8"});
  add_count(app, "--max-connections", o->max_connections, {1, 1'000'000},
            {"COUNT", "clients at a time", "10k"});
  add_count(app, "--max-request", o->max_request, {1024, std::uint64_t{1} << 32},
            {"BYTES", "of one request", "64Mi"});
  add_count(app, "--max-output", o->max_output, {1024, std::uint64_t{1} << 40},
            {"BYTES", "of replies kept for a client; it is not read from meanwhile", "64Mi"});
  add_duration(app, "--idle-timeout", o->idle_timeout,
               {"DURATION", "a client that asks nothing is left after this time", "never"});
  add_duration(app, "--request-timeout", o->request_timeout,
               {"DURATION", "for the rest of a request that has begun, a TLS handshake, a password", "1m"});
  add_duration(app, "--write-timeout", o->write_timeout,
               {"DURATION", "for a client to take the next bytes of a reply", "1m"});
  add_switch(app, "-q,--quiet", o->quiet, "do not print where it listens");
  return [o](printer& out) { return run(*o, out); };
}

}  // namespace

verb serve_verb() {
  return {
      "serve",
      "Serve filters to clients of Redis, by the commands of RedisBloom",
      "Programs in any language use the filters through the BF. commands of their Redis client. With a Redis "
      "behind "
      "it (--store redis://...) it brings these commands to servers that load no modules, spreads one filter "
      "over "
      "many of them, and joins what many clients ask at one moment into few batches.\n\n"
      "It serves until SIGTERM, SIGINT or SHUTDOWN; then it answers what is under way and syncs. It listens "
      "beyond "
      "this machine only with a password, unless told otherwise. The manual is doc/operations.md.",
      {{"Filters in memory, asked by redis-cli",
        "everseen serve --store mem: --listen unix:./s & sleep 1; redis-cli -s ./s BF.ADD clicks alice; kill "
        "$!; wait"},
       {"Filters in files, for a program that may look but not add",
        "everseen serve --listen unix:./s --password secret --user app:word:read & sleep 1; kill $!; wait"}},
      declare};
}

}  // namespace everseen::cli
