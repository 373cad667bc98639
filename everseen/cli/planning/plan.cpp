#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "everseen/cli/planning/store_plan.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/report/planning.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

constexpr std::uint64_t max_planned_bits = std::uint64_t{1} << 62;

struct plan_arguments {
  plan_request request;
  std::optional<std::uint64_t> bits;
  store_options place;
  bool json = false;
};

void print_json(const plan_result& plan, printer& out) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const plan_row& r : plan.rows)
    rows.push_back({{"structure", r.structure},
                    {"keys", r.keys},
                    {"bytes", r.bytes},
                    {"bits_per_key", r.bits_per_key()},
                    {"probes", r.probes},
                    {"cache_lines", r.lines},
                    {"error_rate", r.error_rate}});
  nlohmann::ordered_json all = {
      {"picked", plan.rows[plan.picked].structure}, {"reason", plan.reason}, {"structures", rows}};
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
