#include "everseen/redis/keyspace/server_fleet.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

constexpr std::size_t server_id_length = 32;

/// A server's record of its fleet; empty if it belongs to none.
struct member {
  endpoint address;
  std::string id{};
  std::string fleet{};  ///< the ids of all, in their order
  std::string away{};   ///< why it does not answer; empty: it does
};

/// Reads the record of each server, after an optional command.
/// @param commands  one per server, or none
std::vector<member> members(server_connections& connections, const redis_url& url,
                            const std::vector<std::string>& commands = {}) {
  const std::string key = filter_keys::server(url.prefix);
  std::vector<request> requests;
  for (std::uint32_t i = 0; i < url.endpoints.size(); ++i)
    requests.push_back({{key, i},
                        (commands.empty() ? "" : commands[i]) + encode({"HMGET", key, "id", "fleet"}),
                        commands.empty() ? 1u : 2u,
                        true});
  const std::vector<answer> answers = connections.exchange(requests);
  std::vector<member> all;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i] && commands.empty()) {
      all.push_back({.address = url.endpoints[i], .away = answers[i].error().message});
      continue;
    }
    const std::string where = key + " on " + to_string(url.endpoints[i]);
    (void)expect_reply(answers[i], where);
    // A server that did not store the list of ids must not be shut out for good.
    if (answers[i]->front().is_error())
      throw backend_error(refused_command(where, answers[i]->front().text()));
    const reply& last = answers[i]->back();
    all.push_back({url.endpoints[i], std::string(last[0].text()), std::string(last[1].text())});
  }
  return all;
}

/// The fleet that some of them belong to; empty: none does.
std::string fleet_of(const redis_url& url, const std::vector<member>& all) {
  const member* known = nullptr;
  for (const member& each : all) {
    if (each.fleet.empty()) continue;
    if (known != nullptr && known->fleet != each.fleet)
      throw parameter_error("filters under '" + url.prefix + "' on redis at " + to_string(known->address) +
                            " are spread over other servers than those on " + to_string(each.address) +
                            "; name the servers that belong together");
    known = &each;
  }
  return known == nullptr ? std::string() : known->fleet;
}

std::size_t size_of(std::string_view fleet) noexcept {
  return fleet.size() / server_id_length;
}

/// Assigns the one unavailable server the id that no other one has.
/// @throws backend_error  several are unavailable
void find_away(std::vector<member>& all, std::string_view fleet) {
  const auto is_away = [](const member& m) { return !m.away.empty(); };
  const auto away = std::ranges::find_if(all, is_away);
  if (away == all.end()) return;
  if (fleet.empty() || std::ranges::count_if(all, is_away) > 1) throw backend_error(away->away);
  for (std::size_t position = 0; position < fleet.size(); position += server_id_length)
    if (std::ranges::find(all, fleet.substr(position, server_id_length), &member::id) == all.end())
      away->id = fleet.substr(position, server_id_length);
}

std::optional<server_fleet> ordered(const redis_url& url, std::vector<member> all) {
  const std::string fleet = fleet_of(url, all);
  find_away(all, fleet);
  if (fleet.empty()) return std::nullopt;
  if (size_of(fleet) != all.size())
    throw parameter_error("filters under '" + url.prefix + "' are spread over " +
                          std::to_string(size_of(fleet)) + " servers, and the URL names " +
                          std::to_string(all.size()) + "; name all of them, in any order");
  // The founder may have crashed before all servers had its list.
  const auto stranger = std::ranges::find_if(
      all, [&](const member& m) { return m.id.empty() || fleet.find(m.id) == std::string::npos; });
  if (stranger != all.end())
    throw format_error("redis at " + to_string(stranger->address) + " has no part in the " +
                       std::to_string(all.size()) + " servers that filters under '" + url.prefix +
                       "' are spread over: it has lost its data, or is another server. Restore its data, or "
                       "name the right one; or, to begin anew without filters, delete all keys " +
                       url.prefix + ":* on each of them");
  server_fleet found{url, {}};
  found.url.endpoints.clear();
  for (std::size_t position = 0; position < fleet.size(); position += server_id_length) {
    const auto one = std::ranges::find(all, fleet.substr(position, server_id_length), &member::id);
    if (one == all.end()) throw parameter_error("the URL names one server twice; name each once");
    found.url.endpoints.push_back(one->address);
    found.ids.push_back(one->id);
  }
  return found;
}

}  // namespace

std::string server_fleet::ids_of(const redis_url& named) const {
  std::string all;
  for (const endpoint& each : named.endpoints)
    all += ids.at(static_cast<std::size_t>(std::ranges::find(url.endpoints, each) - url.endpoints.begin()));
  return all;
}

redis_url server_fleet::in_order_of(std::string_view those) const {
  redis_url ordered = url;
  ordered.endpoints.clear();
  for (std::size_t position = 0; position < those.size(); position += server_id_length) {
    const auto found = std::ranges::find(ids, those.substr(position, server_id_length));
    if (found == ids.end())
      throw format_error("a server that the filter was attached on is not one of the URL");
    ordered.endpoints.push_back(url.endpoints[static_cast<std::size_t>(found - ids.begin())]);
  }
  return ordered;
}

/// Another client may be founding it, so that one server was read before it got its id and another after it
/// got the list. Ids come first, so a second attempt sees them all.
std::optional<server_fleet> find_fleet(server_connections& connections, const redis_url& url) {
  try {
    return ordered(url, members(connections, url));
  } catch (const format_error&) {
    return ordered(url, members(connections, url));
  }
}

void require_names_here(server_connections& connections, const redis_url& url) {
  const member only = members(connections, url).front();
  if (only.fleet.empty() || only.fleet.starts_with(only.id)) return;
  throw parameter_error("filters under '" + url.prefix + "' are spread over " +
                        std::to_string(size_of(only.fleet)) + " servers, of which redis at " +
                        to_string(only.address) +
                        " is not the first; name all of them, in any order, or give filters of this server "
                        "alone another prefix=. If no filter is spread any more, delete the key " +
                        filter_keys::server(url.prefix) + " on each of them");
}

/// Ids first, then their list: clients that found a fleet at the same time read the same ids and write the
/// same list.
server_fleet found_fleet(server_connections& connections, const redis_url& url) {
  if (auto known = find_fleet(connections, url)) return *std::move(known);
  const std::string key = filter_keys::server(url.prefix);
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < url.endpoints.size(); ++i)
    commands.push_back(encode({"HSETNX", key, "id", random_name()}));
  std::vector<member> all = members(connections, url, commands);
  std::ranges::sort(all, {}, &member::id);
  std::string fleet;
  for (const member& each : all) fleet += each.id;
  commands.assign(all.size(), encode({"HSETNX", key, "fleet", fleet}));
  auto made = ordered(url, members(connections, url, commands));
  if (!made) throw format_error("the servers immediately lose the data that is written to them");
  return *std::move(made);
}

fleet_servers::fleet_servers(redis_url url) : named_(std::make_shared<connection_pool>(std::move(url))) {}

std::shared_ptr<connection_pool> fleet_servers::connected(purpose intent) const {
  if (!are_spread()) {
    if (intent == purpose::found && url().shape == redis_url::topology::one)
      require_names_here(*named_->take(), url());
    return named_;
  }
  const std::scoped_lock alone(lock_);
  if (ordered_) return ordered_;
  const connection_pool::lease connections = named_->take();
  fleet_ = intent == purpose::found ? found_fleet(*connections, url()) : find_fleet(*connections, url());
  if (!fleet_) return named_;
  ordered_ = std::make_shared<connection_pool>(fleet_->url, *named_);
  return ordered_;
}

std::optional<server_fleet> fleet_servers::fleet() const {
  const std::scoped_lock alone(lock_);
  return fleet_;
}

}  // namespace everseen::redis
