#include "everseen/cli/planning/fleet_plan.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "everseen/cli/terminal/files.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/report/fleet.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

constexpr std::uint64_t most_events = 1'000'000'000'000;
constexpr std::uint64_t most_clients = 1'000'000;
constexpr std::uint64_t most_memory = std::uint64_t{1} << 50;

fleet_constants constants_of(const fleet_options& given) {
  if (!given.constants) return {};
  const input_file file(*given.constants);
  std::string text;
  std::array<std::byte, 4096> some{};
  while (const std::size_t bytes = file.read(some)) {
    text.append(reinterpret_cast<const char*>(some.data()), bytes);
    constexpr std::size_t most_bytes = std::size_t{1} << 20;
    if (text.size() > most_bytes) throw parameter_error(*given.constants + " is too long for constants");
  }
  return read_fleet_constants(text);
}

fleet_request request_of(const fleet_options& given, const fleet_question& question) {
  if (!question.keys)
    throw parameter_error("plan --store needs --keys: how many different keys the filter holds");
  fleet_request r;
  r.keys = *question.keys;
  r.per_second = *given.per_second;
  r.error_rate = question.error_rate.value_or(r.error_rate);
  r.fresh_share = given.fresh_share.value_or(r.fresh_share);
  r.clients = given.clients;
  r.server_bytes = given.server_bytes.value_or(r.server_bytes);
  r.client_bytes = given.client_bytes.value_or(r.client_bytes);
  r.judge = given.judge;
  r.module = given.module;
  return r;
}

nlohmann::ordered_json fleet_json(const fleet_load& load) {
  return {{"bytes", load.bytes},
          {"cores", load.cores},
          {"in_bytes_a_second", load.in_bytes},
          {"out_bytes_a_second", load.out_bytes}};
}

nlohmann::ordered_json fleet_json(const fleet_design& d) {
  nlohmann::ordered_json row = {{"design", d.name}, {"possible", d.is_possible()}};
  if (!d.is_possible()) row["why_not"] = d.why_not;
  if (!d.why_not_allowed.empty()) row["why_not_allowed"] = d.why_not_allowed;
  if (!d.is_sized) {
    row["servers"] = nullptr;
    return row;
  }
  row["filter_bytes"] = d.filter_bytes;
  row["partitions"] = d.partitions;
  row["servers"] = d.servers;
  if (d.servers > 0) {
    row["decided_by"] = d.decided_by;
    row["server"] = fleet_json(d.server);
  }
  row["client"] = fleet_json(d.client);
  if (d.journal_share > 0) row["journal_share"] = d.journal_share;
  return row;
}

void print_json(const fleet_plan& plan, const fleet_constants& constants, printer& out) {
  nlohmann::ordered_json all;
  all["picked"] = nullptr;
  if (plan.picked) all["picked"] = plan.designs[*plan.picked].name;
  all["reason"] = plan.reason;
  if (!plan.command.empty()) all["command"] = plan.command;
  if (plan.mirror_bytes > 0) all["mirror_bytes"] = plan.mirror_bytes;
  all["clients"] = plan.clients;
  all["designs"] = nlohmann::ordered_json::array();
  for (const fleet_design& d : plan.designs) all["designs"].push_back(fleet_json(d));
  all["constants"] = everseen::json_of(constants);
  out.print("{}\n", all.dump(2));
}

/// Decimal prefixes, as for networks.
std::string network(double bytes_a_second) {
  return fmt::format("{:.4g} Mbit/s", bytes_a_second * 8 / 1e6);
}

void print_design(const fleet_design& d, bool picked, printer& out) {
  const bool served = d.servers > 0;
  out.print("{:<9}{:>8}{:>12}{:>7}{:>16}{:>16}{:>14}{:>14}{}\n", d.name,
            served ? format_count(d.servers) : "-", served ? format_bytes(d.server.bytes) : "-",
            served ? fmt::format("{:.0f} %", 100 * d.server.cores) : "-",
            served ? network(d.server.in_bytes) : "-", served ? network(d.server.out_bytes) : "-",
            d.client.bytes > 0 ? format_bytes(d.client.bytes) : "-",
            d.is_sized ? fmt::format("{:.2g}", d.client.cores) : "-", picked ? "  <- picked" : "");
}

void print_table(const fleet_plan& plan, printer& out) {
  out.print("{} {}; of the machines, at peak:\n\n", format_count(plan.clients),
            plan.clients == 1 ? "client" : "clients");
  out.print("{:<9}{:>8}{:>12}{:>7}{:>16}{:>16}{:>14}{:>14}\n", "design", "servers", "memory each", "CPU",
            "in each", "out each", "client memory", "client cores");
  for (std::size_t i = 0; i < plan.designs.size(); ++i) print_design(plan.designs[i], plan.picked == i, out);
  out.write("\n");
  for (const fleet_design& d : plan.designs) {
    if (!d.is_possible())
      out.print("{} cannot: {}.\n", d.name, d.why_not);
    else if (!d.why_not_allowed.empty())
      out.print("{} is not taken: {}.\n", d.name, d.why_not_allowed);
  }
  if (!plan.picked) {
    out.print("{}.\n", plan.reason);
    return;
  }
  out.print("{}: {}.\n\n{}\n", plan.designs[*plan.picked].name, plan.reason, plan.command);
  if (plan.mirror_bytes > 0)
    out.print("The clients' URL must have the option mirror={}Mi, or more where the filter may grow.\n",
              (plan.mirror_bytes >> 20) + 1);
}

}  // namespace

void declare_fleet(option_set& known, fleet_options& target) {
  fleet_options& o = target;
  add_option(known, "--store",
             {"STORE",
              "what a filter costs in a store: redis for any Redis, or a URL; with redis and --per-second, "
              "the servers for a stream of events"},
             [&o](std::string_view what, std::string_view text) {
               if (text != "redis" && text.find(':') == std::string_view::npos)
                 throw parameter_error(fmt::format(
                     "{} {} is not known; use redis, or a URL such as redis://HOST:PORT", what, text));
               o.store = text;
             });
  add_count(known, "--per-second", o.per_second, {1, most_events},
            {"COUNT", "with --store: events a second, at peak"});
  add_rate(known, "--fresh-share", o.fresh_share, {0, 1},
           {"SHARE", "share of the events that are fresh", "1"});
  add_count(known, "--clients", o.clients, {1, most_clients},
            {"COUNT", "processes that add keys",
             fmt::format("{}, or one for each 2M events a second", usual_clients)});
  add_count(known, "--server-memory", o.server_bytes, {std::uint64_t{1} << 20, most_memory},
            {"BYTES", "memory that a server may use", "64Gi"});
  add_count(known, "--client-memory", o.client_bytes, {std::uint64_t{1} << 20, most_memory},
            {"BYTES", "memory that a client has for the filter", "16Gi"});
  add_choice(known, "--judge", o.judge,
             {"server|client", "only designs where the servers judge keys, or the clients", "all designs"},
             parse_judge_kind);
  add_switch(known, "--module", o.module, "servers may load the module");
  add_duration(known, "--timeout", o.timeout,
               {"TIME", "how long to wait for servers of a URL that do not answer", "retry_for of the URL"});
  add_text(known, "--constants", o.constants, {"FILE", "what everseen bench --store URL --json printed"});
}

bool is_about_a_stream(const fleet_options& o) {
  if (o.per_second && o.store == "redis") return true;
  if (o.per_second && o.store)
    throw parameter_error("--per-second plans servers that may not exist yet; give --store redis");
  const std::array<std::pair<bool, std::string_view>, 5> of_streams = {
      {{o.fresh_share.has_value(), "--fresh-share"},
       {o.clients.has_value(), "--clients"},
       {o.server_bytes.has_value(), "--server-memory"},
       {o.client_bytes.has_value(), "--client-memory"},
       {o.constants.has_value(), "--constants"}}};
  const std::array<std::pair<bool, std::string_view>, 4> of_stores = {
      {{o.per_second.has_value(), "--per-second"},
       {o.judge.has_value(), "--judge"},
       {o.module, "--module"},
       {o.timeout.has_value(), "--timeout"}}};
  if (!o.store)
    for (const auto& [is_given, option] : of_stores)
      if (is_given)
        throw parameter_error(fmt::format("{} is about servers; give --store redis as well", option));
  for (const auto& [is_given, option] : of_streams)
    if (is_given)
      throw parameter_error(
          fmt::format("{} is about a stream; give --store redis and --per-second as well", option));
  return false;
}

exit_code plan_servers(const fleet_options& given, const fleet_question& question, printer& out) {
  const fleet_constants constants = constants_of(given);
  const fleet_plan plan = plan_fleet(request_of(given, question), constants);
  question.json ? print_json(plan, constants, out) : print_table(plan, out);
  return plan.picked ? exit_code::done : exit_code::negative;
}

}  // namespace everseen::cli
