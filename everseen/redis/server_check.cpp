#include "everseen/redis/server_check.hpp"

#include <charconv>
#include <cstdint>
#include <utility>

namespace everseen::redis {

namespace {

/// Since this version, the effects of scripts are replicated, so a replica may take over in the middle of
/// one.
constexpr int oldest_major_version = 5;

void doubt_version(const std::string& name, std::string_view info, std::vector<std::string>& doubts) {
  const std::string_view version = info_field(info, "redis_version").value_or("");
  int major = oldest_major_version;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major < oldest_major_version)
    doubts.push_back(name + " is version " + std::string(version) + "; everseen needs Redis 5 or later");
}

void doubt_eviction(const std::string& name, std::string_view info, std::vector<std::string>& doubts) {
  const auto policy = info_field(info, "maxmemory_policy");
  if (!policy)
    doubts.push_back(name + " does not report its maxmemory-policy; a filter needs noeviction");
  else if (*policy != "noeviction")
    doubts.push_back(name + " has the maxmemory-policy " + std::string(*policy) +
                     " and may evict parts of filters; set it to noeviction");
}

void doubt_role(const std::string& name, std::string_view info, std::vector<std::string>& doubts) {
  if (info_field(info, "role") == "slave")
    doubts.push_back(name + " is a replica of " + std::string(info_field(info, "master_host").value_or("?")) +
                     ":" + std::string(info_field(info, "master_port").value_or("?")) +
                     " and takes no new keys; use the URL of its master");
}

void doubt_persistence(const std::string& name, std::string_view info, std::vector<std::string>& doubts) {
  if (info_field(info, "aof_enabled") == "0" && info_field(info, "save") == "")
    doubts.push_back(name + " keeps nothing on disk: a restart forgets its filters; set appendonly to yes");
}

void doubt_exactness(const std::string& name, std::string_view info, std::vector<std::string>& doubts) {
  const auto aof = info_field(info, "appendonly");
  const auto sync = info_field(info, "appendfsync");
  if (aof == "yes" && sync == "always") return;
  std::string problem = " has appendonly no: after a crash it has forgotten all since its last snapshot";
  if (!aof || !sync)
    problem = " does not say how it keeps its data (CONFIG GET is forbidden): it may forget some in a crash";
  else if (aof == "yes")
    problem = " has appendfsync " + std::string(*sync) +
              ": after a crash of its machine it has forgotten the last moments";
  doubts.push_back(
      name + problem +
      ", so counts may be too low, and events lost or come twice; appendonly yes and appendfsync "
      "always keep all that it answered for");
}

/// No version of Redis is known that cuts off the whole block.
void doubt_torn_aof(const std::string& name, std::string_view info, std::vector<std::string>& doubts) {
  if (info_field(info, "appendonly") != "yes" || info_field(info, "aof-load-truncated") != "yes") return;
  doubts.push_back(
      name +
      " has aof-load-truncated yes: after it was killed in the middle of a write it starts with half a "
      "block of commands at the end of its AOF, and a second crash may undo what it answered for since; "
      "set it to no, and mend such an AOF by redis-check-aof --fix before it starts");
}

}  // namespace

std::optional<std::string_view> info_field(std::string_view info, std::string_view field) noexcept {
  while (!info.empty()) {
    const std::string_view line = info.substr(0, info.find_first_of("\r\n"));
    if (line.starts_with(field) && line.substr(field.size()).starts_with(':'))
      return line.substr(field.size() + 1);
    const std::size_t next = info.find_first_not_of("\r\n", line.size());
    info = next == std::string_view::npos ? std::string_view{} : info.substr(next);
  }
  return {};
}

std::optional<server_report> report_of(std::string who, std::string_view info) {
  const auto number_of = [info](std::string_view field) {
    const std::string_view text = info_field(info, field).value_or("");
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  };
  if (!info_field(info, "total_commands_processed")) return std::nullopt;
  server_report report{std::move(who), std::string(info_field(info, "run_id").value_or(""))};
  report.clients = number_of("connected_clients");
  report.commands = number_of("total_commands_processed");
  // Redis 6.2 and later count errors; everseen serve counts the outages of its store.
  report.errors = number_of("total_error_replies") + number_of("store_outages");
  report.bytes = number_of("used_memory");
  report.max_bytes = number_of("maxmemory");
  return report;
}

std::vector<std::string> warnings_about(std::string_view who, std::string_view info) {
  const std::string name = "redis at " + std::string(who);
  std::vector<std::string> doubts;
  for (const auto doubt : {doubt_version, doubt_eviction, doubt_role, doubt_persistence})
    doubt(name, info, doubts);
  return doubts;
}

std::vector<std::string> warnings_about_jobs(std::string_view who, std::string_view info) {
  const std::string name = "redis at " + std::string(who);
  std::vector<std::string> doubts;
  for (const auto doubt : {doubt_version, doubt_eviction, doubt_role, doubt_exactness, doubt_torn_aof})
    doubt(name, info, doubts);
  return doubts;
}

}  // namespace everseen::redis
