#include "everseen/report/fleet_constants.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/text/json.hpp"

namespace everseen {

namespace {

constexpr std::string_view on_redis = "everseen bench --store unix:... --keys 40M";
constexpr std::string_view by_small_run = "everseen bench --store unix:... --keys 2M";

constexpr std::array all_constants = std::to_array<fleet_constant>({
    {"embedded_fresh_us", &fleet_constants::embedded_fresh_us,
     "CPU of one process with its own filter, a fresh key", "everseen bench --store mem: --keys 200M"},
    {"embedded_repeat_us", &fleet_constants::embedded_repeat_us, "the same, a repeat",
     "everseen bench --store mem: --keys 200M"},
    {"client_fresh_us", &fleet_constants::client_fresh_us,
     "CPU of the server a fresh key, where one client adds",
     "doc/measurements.md, Judged by clients: 0.04 to 0.07"},
    {"client_repeat_us", &fleet_constants::client_repeat_us, "CPU of the server a repeat", on_redis},
    {"client_another_us", &fleet_constants::client_another_us,
     "more for a fresh key with each further client, which reads it", on_redis},
    {"client_own_fresh_us", &fleet_constants::client_own_fresh_us, "CPU of a client a fresh key of its own",
     on_redis},
    {"client_own_repeat_us", &fleet_constants::client_own_repeat_us, "CPU of a client a repeat", on_redis},
    {"client_own_follow_us", &fleet_constants::client_own_follow_us,
     "CPU of a client a fresh key of another client", on_redis},
    {"client_in_bytes", &fleet_constants::client_in_bytes,
     "bytes to the server a fresh key: 16 of its digest, the rest checkpoints", on_redis},
    {"client_again_in_bytes", &fleet_constants::client_again_in_bytes,
     "more where others add, too: a record that was refused is sent again", on_redis},
    {"client_another_out_bytes", &fleet_constants::client_another_out_bytes,
     "bytes from the server to each further client a fresh key, those of refusals among them", on_redis},
    {"client_call_us", &fleet_constants::client_call_us, "CPU of the server a call, besides that of its keys",
     by_small_run},
    {"client_call_own_us", &fleet_constants::client_call_own_us, "CPU of a client a call", by_small_run},
    {"client_call_bytes", &fleet_constants::client_call_bytes, "bytes to the server a call", by_small_run},
    {"module_fresh_us", &fleet_constants::module_fresh_us,
     "CPU of the server a fresh key, at two lines a key", on_redis},
    {"module_repeat_us", &fleet_constants::module_repeat_us, "the same, a repeat", on_redis},
    {"module_unit_us", &fleet_constants::module_unit_us, "less with one line", on_redis},
    {"module_own_us", &fleet_constants::module_own_us, "CPU of a client a key", on_redis},
    {"module_in_bytes", &fleet_constants::module_in_bytes, "bytes to the server a key", on_redis},
    {"module_out_bytes", &fleet_constants::module_out_bytes, "bytes from the server a key", on_redis},
    {"module_call_us", &fleet_constants::module_call_us, "CPU of the server a call, besides that of its keys",
     by_small_run},
    {"module_call_own_us", &fleet_constants::module_call_own_us, "CPU of a client a call", by_small_run},
    {"module_call_bytes", &fleet_constants::module_call_bytes, "bytes to the server a call", by_small_run},
    {"round_trip_us", &fleet_constants::round_trip_us, "a round trip from a client to a server",
     "assumed: a network of one building; 16 by a Unix socket"},
    {"batch_keys", &fleet_constants::batch_keys, "keys that a client judges at a time", "a block of dedup",
     1},
    {"network_gbit", &fleet_constants::network_gbit,
     "network of a server or a client, in each direction, Gbit/s", "assumed", 1e-3},
    {"most_share", &fleet_constants::most_share,
     "share of a server's core and of each network that is planned for; the rest is for peaks and outages",
     "assumed", 1e-3, 1},
    {"client_events", &fleet_constants::client_events, "events a second that one client reads and parses",
     "doc/measurements.md, everseen stream: 1.9 to 2.4 million", 1},
    {"client_cores", &fleet_constants::client_cores, "cores that a client may use", "assumed", 1e-3},
    {"copied_share", &fleet_constants::copied_share,
     "share of the bits that Redis copies while it saves a snapshot or rewrites its AOF",
     "doc/measurements.md, While a snapshot is saved: 501 of 640 MB", 0, 1},
});

[[noreturn]] void refuse(const std::string& why) {
  throw parameter_error("the constants are not usable: " + why +
                        "; everseen bench --store URL --json makes some");
}

double number_of(const fleet_constant& constant, const nlohmann::json& given) {
  const nlohmann::json& value = given.is_object() && given.contains("value") ? given["value"] : given;
  if (!value.is_number()) refuse(fmt::format("the value of {} is no number", constant.name));
  const auto number = value.get<double>();
  if (!(number >= constant.least && number <= constant.most))
    refuse(fmt::format("{} must be from {:g} to {:g}, not {:g}", constant.name, constant.least, constant.most,
                       number));
  return number;
}

}  // namespace

std::span<const fleet_constant> all_fleet_constants() noexcept {
  return all_constants;
}

nlohmann::ordered_json json_of(const fleet_constants& constants) {
  const fleet_constants standard;
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const fleet_constant& c : all_constants)
    all[std::string(c.name)] = {{"value", constants.*c.value},
                                {"meaning", c.meaning},
                                {"source", constants.*c.value == standard.*c.value ? c.source : "given"}};
  return all;
}

fleet_constants read_fleet_constants(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json.data(), json.data() + json.size(),
                                            nlohmann::json::parser_callback_t{}, false, false);
  if (!parsed.is_object() || !parsed.contains("constants") || !parsed["constants"].is_object())
    refuse("they are no JSON object with a member constants, or a number in it is too large");
  fleet_constants constants;
  for (const auto& [name, given] : parsed["constants"].items()) {
    const auto known = std::ranges::find(all_constants, name, &fleet_constant::name);
    if (known == all_constants.end()) refuse("there is none called " + name);
    constants.*(known->value) = number_of(*known, given);
  }
  return constants;
}

}  // namespace everseen
