#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "everseen/cli/terminal/files.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/report/fleet.hpp"
#include "everseen/report/planning.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

/// The part of `everseen plan` about stores: what the verbs would make there, and the servers for a stream.
struct store_options {
  std::optional<std::string> store{};  ///< redis, or a URL
  std::optional<std::chrono::milliseconds> timeout{};
  std::optional<std::string> constants{};  ///< a file
  fleet_request asked{};                   ///< the verb fills in keys and error rate
};

using rows = nlohmann::ordered_json;

rows json_of(const fleet_load& load) {
  return {{"bytes", load.bytes},
          {"cores", load.cores},
          {"in_bytes", load.in_bytes},
          {"out_bytes", load.out_bytes}};
}

void print_json(const fleet_plan& plan, const std::string& command, const fleet_constants& constants,
                printer& out) {
  rows all = {{"picked", nullptr}, {"clients", plan.clients}, {"constants", constants}};
  if (plan.picked) all["picked"] = plan.designs[*plan.picked].name;
  if (plan.picked) all["command"] = command;
  for (const fleet_design& d : plan.designs)
    all["designs"].push_back({{"design", d.name},
                              {"possible", d.why_not.empty()},
                              {"why_not", d.why_not},
                              {"filter_bytes", d.filter_bytes},
                              {"partitions", d.partitions},
                              {"servers", d.servers},
                              {"decided_by", d.decided_by},
                              {"server", json_of(d.server)},
                              {"client", json_of(d.client)}});
  out.print("{}\n", all.dump(2));
}

void print_table(const fleet_plan& plan, const std::string& command, printer& out) {
  constexpr auto row = "{:<9}{:>8}{:>12}{:>7}{:>17}{:>17}{:>14}{:>14}{}\n";
  const auto network = [](double bytes) { return fmt::format("{:.4g} Mbit/s", bytes * 8 / 1e6); };
  const auto shown = [](bool is, const std::string& text) { return is ? text : "-"; };
  out.print("{:.0f} client{}; of the machines, at peak:\n\n", plan.clients, plan.clients == 1 ? "" : "s");
  out.print(row, "design", "servers", "memory each", "CPU", "in each", "out each", "client memory",
            "client cores", "");
  for (std::size_t i = 0; i < plan.designs.size(); ++i) {
    const fleet_design& d = plan.designs[i];
    const bool is = d.servers > 0;
    out.print(row, d.name, shown(is, fmt::format("{:.0f}", d.servers)),
              shown(is, format_bytes(d.server.bytes)),
              shown(is, fmt::format("{:.0f} %", 100 * d.server.cores)), shown(is, network(d.server.in_bytes)),
              shown(is, network(d.server.out_bytes)), shown(d.client.bytes > 0, format_bytes(d.client.bytes)),
              shown(d.client.cores > 0, fmt::format("{:.2g}", d.client.cores)),
              plan.picked == i ? "  <- picked" : "");
  }
  out.write("\n");
  for (const fleet_design& d : plan.designs)
    if (!d.why_not.empty()) out.print("{} is not possible: {}.\n", d.name, d.why_not);
  if (!plan.picked) return;
  const fleet_design& best = plan.designs[*plan.picked];
  if (best.servers > 0) out.print("The number of servers is decided by {}.\n", best.decided_by);
  out.print("\n{}\n", command);
  // Each client has all bits of the filter, and an option of its URL limits the memory for them.
  if (best.name == "client")
    out.print("The clients' URL must have the option mirror={}Mi, or more where the filter may grow.\n",
              (best.filter_bytes >> 20) + 1);
}

fleet_constants constants_of(const store_options& given) {
  if (!given.constants) return usual_constants();
  std::ifstream file(*given.constants);
  if (!file) throw disk_error("read", *given.constants, errno);
  return read_constants(std::string(std::istreambuf_iterator<char>(file), {}));
}

exit_code plan_for_stream(const store_options& given, bool as_json, printer& out) {
  const fleet_constants constants = constants_of(given);
  const fleet_plan plan = plan_fleet(given.asked, constants);
  std::string command;
  if (plan.picked) {
    const fleet_design& d = plan.designs[*plan.picked];
    command = fmt::format("everseen create NAME --capacity {} --error-rate {}", given.asked.keys,
                          typed_rate(given.asked.error_rate.value_or(default_error_rate)));
    if (d.servers > 0)
      command +=
          fmt::format(" --judge {} --partitions {}", d.name == "client" ? "client" : "server", d.partitions);
  }
  as_json ? print_json(plan, command, constants, out) : print_table(plan, command, out);
  return plan.picked ? exit_code::done : exit_code::negative;
}

void print_made(const std::vector<made_filter>& all, bool as_json, printer& out) {
  rows made = rows::array();
  for (const made_filter& each : all)
    made.push_back({{"made_by", each.made_by},
                    {"judge", to_string(each.properties.judge)},
                    {"layout", to_string(each.properties.layout)},
                    {"probes", each.properties.probes},
                    {"partitions", each.properties.partitions},
                    {"keys", each.properties.capacity},
                    {"bytes", each.bytes()},
                    {"bits_per_key", each.bits_per_key()},
                    {"error_rate", each.properties.error_rate}});
  if (as_json) return out.print("{}\n", rows{{"filters", made}}.dump(2));
  const spec& any = all.front().properties;
  out.print("{} keys at an error rate of {}; a filter that grows begins with:\n\n",
            format_count(any.capacity), format_rate(any.error_rate));
  constexpr auto row = "{:<16}{:>12}{:>12}{:>8}{:>12}  {}\n";
  out.print(row, "layout", "memory", "bits a key", "probes", "partitions", "made by");
  for (const made_filter& each : all)
    out.print(row, to_string(each.properties.layout), format_bytes(static_cast<double>(each.bytes())),
              fmt::format("{:.1f}", each.bits_per_key()), each.properties.probes, each.properties.partitions,
              each.made_by);
}

/// @param o  must outlive the parsing of the command line
void declare_store_options(option_set& known, store_options& o) {
  constexpr count_bounds memory{std::uint64_t{1} << 20, std::uint64_t{1} << 50};
  fleet_request& r = o.asked;
  add_text(known, "--store", o.store,
           {"STORE",
            "what a filter costs in a store: redis for any Redis, or a URL; with redis and --per-second, the "
            "servers for a stream of events"});
  add_count(known, "--per-second", r.per_second, {1, 1'000'000'000'000},
            {"COUNT", "with --store: events a second, at peak"});
  add_rate(known, "--fresh-share", r.fresh_share, {0, 1},
           {"SHARE", "share of the events that are fresh", "1"});
  add_count(known, "--clients", r.clients, {1, 1'000'000},
            {"COUNT", "processes that add keys", "8, or one for each 2M events a second"});
  add_count(known, "--server-memory", r.server_bytes, memory,
            {"BYTES", "memory that a server may use", "64Gi"});
  add_count(known, "--client-memory", r.client_bytes, memory,
            {"BYTES", "memory that a client has for the filter", "16Gi"});
  add_choice(known, "--judge", r.judge,
             {"server|client", "only designs where the servers judge keys, or the clients", "all designs"},
             parse_judge_kind);
  add_switch(known, "--module", r.module, "servers may load the module");
  add_duration(known, "--timeout", o.timeout,
               {"TIME", "how long to wait for servers of a URL that do not answer", "retry_for of the URL"});
  add_text(known, "--constants", o.constants, {"FILE", "what everseen bench --store URL --json printed"});
}

/// @throws parameter_error  an option needs another one that is not given
void must_agree(const store_options& given) {
  const fleet_request& r = given.asked;
  if (given.store && given.store != "redis" && given.store->find(':') == std::string::npos)
    throw parameter_error(
        fmt::format("--store {} is not known; use redis, or a URL such as redis://HOST:PORT", *given.store));
  if (r.per_second && given.store != "redis")
    throw parameter_error("--per-second plans servers that may not exist yet; give --store redis");
  if (!given.store && (r.judge || r.module || given.timeout))
    throw parameter_error("--judge, --module and --timeout are about a store; give --store as well");
  if (!r.per_second && (r.fresh_share || r.clients || r.server_bytes || r.client_bytes || given.constants))
    throw parameter_error(
        "--fresh-share, --clients, --server-memory, --client-memory and --constants are about a stream; give "
        "--store redis and --per-second as well");
}

/// @pre  given.store    @throws parameter_error  the numbers fit no filter    @throws  as store::plan
exit_code plan_on_store(const store_options& given, bool as_json, printer& out) {
  const fleet_request& r = given.asked;
  if (r.per_second) return plan_for_stream(given, as_json, out);
  const spec_request wanted{.capacity = r.keys, .error_rate = r.error_rate, .judge = r.judge};
  print_made(given.store == "redis"
                 ? filters_made_on_redis(wanted, r.module)
                 : filters_made_on(*open_chosen({.url = *given.store, .timeout = given.timeout}), wanted),
             as_json, out);
  return exit_code::done;
}

constexpr std::uint64_t max_planned_bits = std::uint64_t{1} << 62;

struct plan_arguments {
  plan_request request;
  std::optional<std::uint64_t> bits;
  store_options place;
  bool json = false;
};

void print_json(const plan_result& plan, printer& out) {
  rows structures = rows::array();
  for (const plan_row& r : plan.rows)
    structures.push_back({{"structure", r.structure},
                          {"keys", r.keys},
                          {"bytes", r.bytes},
                          {"bits_per_key", r.bits_per_key()},
                          {"probes", r.probes},
                          {"cache_lines", r.lines},
                          {"error_rate", r.error_rate}});
  rows all = {
      {"picked", plan.rows[plan.picked].structure}, {"reason", plan.reason}, {"structures", structures}};
  if (plan.bytes_when_growing) all["bytes_when_growing"] = *plan.bytes_when_growing;
  out.print("{}\n", all.dump(2));
}

void print_table(const plan_result& plan, printer& out) {
  out.print("{:<16}{:>18}{:>12}{:>12}{:>8}{:>13}{:>12}\n", "structure", "keys", "memory", "bits a key",
            "probes", "cache lines", "error rate");
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const plan_row& r = plan.rows[i];
    out.print("{:<16}{:>18}{:>12}{:>12.1f}{:>8}{:>13}{:>12}{}\n", r.structure, format_count(r.keys),
              format_bytes(static_cast<double>(r.bytes)), r.bits_per_key(), r.probes, r.lines,
              format_rate(r.error_rate), i == plan.picked ? "  <- picked" : "");
  }
  out.print("\n{}: {}.\n", plan.rows[plan.picked].structure, plan.reason);
  if (plan.bytes_when_growing)
    out.print("A filter that may grow later (the default of create) begins at {}.\n",
              format_bytes(static_cast<double>(*plan.bytes_when_growing)));
}

exit_code run_plan(plan_arguments o, printer& out) {
  must_agree(o.place);
  if (o.place.store) {
    if (o.bits || o.request.bytes || o.request.values || o.request.probes)
      throw parameter_error("--bytes, --bits, --values and --probes are not for --store; leave them out");
    if (!o.request.keys)
      throw parameter_error("plan --store needs --keys: how many different keys the filter holds");
    o.place.asked.keys = *o.request.keys;
    o.place.asked.error_rate = o.request.error_rate;
    return plan_on_store(o.place, o.json, out);
  }
  if (o.bits && o.request.bytes)
    throw parameter_error("--bits and --bytes are the same in two units; give one");
  if (o.bits) o.request.bytes = (*o.bits + 7) / 8;
  const plan_result plan = make_plan(with_default_rate(o.request));
  o.json ? print_json(plan, out) : print_table(plan, out);
  return exit_code::done;
}

action declare_plan(option_set& known) {
  auto o = std::make_shared<plan_arguments>();
  plan_request& r = o->request;
  add_count(known, "--keys", r.keys, {1, max_capacity}, {"COUNT", "how many different keys there will be"});
  add_rate(known, "--error-rate", r.error_rate, {sizing::min_error_rate, sizing::max_error_rate},
           {"RATE", "share of new keys that may be called seen", "1e-6 with --keys or --bytes alone"});
  add_count(known, "--bytes", r.bytes, {line_bytes, max_planned_bits / 8},
            {"BYTES", "memory there is, as in 64Mi"});
  add_count(known, "--bits", o->bits, {line_bits, max_planned_bits}, {"BITS", "the same in bits"});
  add_option(known, "--probes", {"COUNT", "bits a key of the classic layout, instead of the best number"},
             [o](std::string_view option, std::string_view value) {
               o->request.probes = static_cast<unsigned>(parse_count(option, value, {1, max_probes}));
             });
  add_option(known, "--values", {"COUNT|FROM..TO", "keys are numbers: how many different ones could exist"},
             [o](std::string_view option, std::string_view value) {
               if (value.find("..") == std::string_view::npos) {
                 o->request.values = parse_count(option, value, {1, max_planned_bits});
               } else {
                 const auto [first, last] = parse_range(option, value, max_planned_bits);
                 o->request.values = last - first + 1;
               }
             });
  declare_store_options(known, o->place);
  add_json(known, o->json);
  return [o](printer& out) { return run_plan(*o, out); };
}

}  // namespace

verb plan_verb() {
  return {
      "plan",
      "Show what a filter, or a fleet with one, would cost, and what fits",
      "Give keys or memory, or two of keys, memory and error rate; plan answers with the rest, for every "
      "layout and beside a hash set (64-bit hashes, two thirds full) and a bitmap over all possible values. "
      "Give all three, and plan answers with the fewest probes of the classic layout that keep the rate.\n\n"
      "With --store, plan answers with the filters that create, dedup and stream would make there. --store "
      "redis stands for any Redis; the servers of a URL are asked whether they have the module.\n\n"
      "With --store redis and --per-second, plan computes how many servers a stream of events needs, in each "
      "design: one process with a filter of its own, clients that judge, servers that judge by the module. "
      "For "
      "each it shows the memory (with what Redis copies while it saves), CPU and network of "
      "a server, and the memory and cores of a client. It says why a design is not possible, and recommends "
      "the possible one with the fewest servers, then with the least CPU. A server is one redis-server "
      "process, which judges on one core. Without --error-rate the rate is 1e-6. The exit code is 1 if no "
      "design is possible. Make the filter by the command that plan prints.\n\n"
      "The costs behind it were measured on one machine; some numbers are assumptions. --json shows all of "
      "them. To use the costs of your own servers, measure them with everseen bench --store URL --json, and "
      "give the output to --constants.",
      {{"Memory for a billion keys at one error in a million", "everseen plan --keys 1G --error-rate 1e-6"},
       {"The error rate that 64 MiB give to ten million keys", "everseen plan --keys 10M --bytes 64Mi"},
       {"How many keys fit into 1 GiB", "everseen plan --bytes 1Gi --error-rate 0.1%"},
       {"How many probes a million keys need in 1.25 MB",
        "everseen plan --keys 1M --bytes 1.25MB --error-rate 1%"},
       {"Ten million ids out of ten billion, beside a bitmap",
        "everseen plan --keys 10M --error-rate 1% --values 1..10G"},
       {"What create makes on a plain Redis", "everseen plan --store redis --keys 10M"},
       {"Redis servers for a million events a second",
        "everseen plan --store redis --keys 1G --per-second 1M"},
       {"The same by your own servers' costs",
        "everseen plan --store redis --keys 1G --per-second 1M --clients 20 --constants costs.json",
        "everseen bench --store mem: --keys 10k --json > costs.json"}},
      declare_plan};
}

}  // namespace everseen::cli
