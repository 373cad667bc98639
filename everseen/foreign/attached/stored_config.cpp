#include "everseen/foreign/attached/stored_config.hpp"

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/foreign/bitmap/redisson.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace redisson = foreign::redisson;

namespace {

constexpr std::string_view nothing_stored = " ";

/// As scripts join them; a field that is missing is empty.
std::string joined(const reply& r) {
  return std::string(r[0].text()) + " " + std::string(r[1].text());
}

}  // namespace

bool has_config(const attachment& a) noexcept {
  return a.hashing.which == foreign::family::redisson;
}

std::string config_key(const attachment& a) {
  return redisson::config_key(a.key);
}

std::string config_text(const attachment& a) {
  return has_config(a) ? std::to_string(a.hashing.bits) + " " + std::to_string(a.hashing.probes) : "";
}

std::string config_request(const attachment& a) {
  return encode({"HMGET", config_key(a), redisson::size_field, redisson::probes_field});
}

std::optional<std::string> config_fault(const attachment& a, const reply& r) {
  if (r.is_error("WRONGTYPE")) return string_fault::of_another_type(config_key(a));
  if (r.is_error()) throw backend_error(refused_command(config_key(a), r.text()));
  const std::string found = joined(r);
  if (found == config_text(a)) return {};
  return config_fault(a, found);
}

std::string config_fault(const attachment& a, std::string_view found) {
  if (found == nothing_stored)
    return "the hash " + config_key(a) +
           ", which has the sizes of the filter, is missing: Redisson deleted or renamed it, or it has "
           "expired or was evicted. Forget it with everseen drop";
  const std::size_t blank = found.find(' ');
  return "the hash " + config_key(a) + " says size " + std::string(found.substr(0, blank)) +
         " and hashIterations " + std::string(found.substr(blank + 1)) + ", but " +
         std::to_string(a.hashing.bits) + " and " + std::to_string(a.hashing.probes) +
         " when the filter was attached: Redisson created it again. Forget it with everseen drop, and attach "
         "it again";
}

foreign::scheme read_config(const attachment& a, const reply& r) {
  const std::string key = config_key(a);
  if (r.is_error("WRONGTYPE"))
    throw parameter_error("the key " + key + " is not a hash, so " + a.key + " is not a filter of Redisson");
  if (r.is_error()) throw backend_error(refused_command(key, r.text()));
  if (joined(r) == nothing_stored)
    throw parameter_error("there is no hash " + key + ", in which Redisson keeps the sizes of the filter " +
                          a.key + "; check its name, or call tryInit() first");
  const auto bits = read_number(r[0].text()), probes = read_number(r[1].text());
  if (!bits || !probes || *probes > max_probes)
    throw parameter_error("the hash " + key + " says size '" + std::string(r[0].text().substr(0, 40)) +
                          "' and hashIterations '" + std::string(r[1].text().substr(0, 40)) +
                          "'; everseen takes sizes from 1 on and 1 to 64 hashIterations");
  return {a.hashing.which, *bits, static_cast<unsigned>(*probes)};
}

}  // namespace everseen::redis
