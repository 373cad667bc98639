#include "everseen/report/fleet.hpp"

#include <fmt/format.h>

#include "everseen/report/fleet_designs.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen {

namespace {

void apply_request(const fleet_request& r, std::vector<fleet_design>& designs) {
  for (fleet_design& d : designs) {
    const bool by_client = d.name == "client";
    if (d.name == "embedded") {
      if (r.judge || r.clients != 1U) d.why_not_allowed = "only where one process sees all keys: --clients 1";
    } else if (r.judge && by_client != (*r.judge == judge_kind::client)) {
      d.why_not_allowed = "another judge was asked for";
    } else if (d.name == "module" && !r.module) {
      d.why_not_allowed = "only where servers may load the module: --module";
    }
  }
}

std::string why(const fleet_plan& plan) {
  const fleet_design& best = plan.designs[*plan.picked];
  if (best.servers == 0) return "one process sees all keys, and needs no server";
  std::string text = fmt::format("{} {} enough, limited by {}", format_count(best.servers),
                                 best.servers == 1 ? "server is" : "servers are", best.decided_by);
  for (const fleet_design& other : plan.designs)
    if (other.is_possible() && other.why_not_allowed.empty() && other.name != best.name)
      text += other.servers == best.servers
                  ? fmt::format("; by {} it would be {:.0f} % busy instead of {:.0f} %", other.name,
                                100 * other.server.cores, 100 * best.server.cores)
                  : fmt::format("; by {} it would take {}", other.name, format_count(other.servers));
  return text;
}

std::string command_for(const fleet_request& r, const fleet_design& d) {
  std::string command =
      fmt::format("everseen create NAME --capacity {} --error-rate {}", r.keys, typed_rate(r.error_rate));
  if (d.name != "embedded") command += d.name == "client" ? " --judge client" : " --judge server";
  if (d.partitions_must_be_given) command += fmt::format(" --partitions {}", d.partitions);
  return command;
}

}  // namespace

fleet_plan plan_fleet(const fleet_request& request, const fleet_constants& constants) {
  fleet_plan plan;
  plan.clients = clients_of(request, constants);
  plan.designs = designs_of(request, constants);
  apply_request(request, plan.designs);
  const auto better = [](const fleet_design& a, const fleet_design& b) {
    return a.servers != b.servers ? a.servers < b.servers : a.server.cores < b.server.cores;
  };
  for (std::size_t i = 0; i < plan.designs.size(); ++i) {
    const fleet_design& d = plan.designs[i];
    if (!d.is_possible() || !d.why_not_allowed.empty()) continue;
    if (!plan.picked || better(d, plan.designs[*plan.picked])) plan.picked = i;
  }
  if (!plan.picked) {
    plan.reason = "none of the allowed designs is possible";
    return plan;
  }
  plan.reason = why(plan);
  const fleet_design& best = plan.designs[*plan.picked];
  plan.command = command_for(request, best);
  if (best.name == "client") plan.mirror_bytes = static_cast<std::uint64_t>(best.client.bytes);
  return plan;
}

}  // namespace everseen
