#include <memory>
#include <string>

#include "everseen/cli/serve/serve_options.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/serve/server.hpp"
#include "everseen/telemetry/supervisor.hpp"

namespace everseen::cli {

namespace {

using telemetry::log_level;

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
  telemetry::tell_supervisor("READY=1");
  server.run_until(is_signalled, [] { telemetry::tell_supervisor("STOPPING=1"); });
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
