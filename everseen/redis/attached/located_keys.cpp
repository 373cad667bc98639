#include "everseen/redis/attached/located_keys.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "everseen/compat/bitmap/bkdr_php.hpp"

namespace everseen::redis {

namespace {

using compat::bkdr_php::shards;

void append(const attachment& a, std::string_view key, std::uint32_t origin, located_keys& to) {
  const std::size_t at = to.positions.size();
  to.positions.resize(at + a.how.probes);
  compat::positions(a.how, key, std::span(to.positions).subspan(at));
  to.origin.push_back(origin);
}

std::vector<located_keys> locate_in_shards(const attachment& a, std::span<const std::string_view> keys) {
  const shards all(a.how.bits, a.instances);
  std::map<std::pair<std::uint32_t, std::uint64_t>, located_keys> by_place;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    const shards::place p = all.of(keys[i]);
    auto [at, is_new] = by_place.try_emplace({p.instance, p.partition});
    if (is_new) at->second.place = {shards::redis_key(a.key, p.partition), p.instance};
    append(a, keys[i], i, at->second);
  }
  std::vector<located_keys> located;
  for (auto& [number, some] : by_place) located.push_back(std::move(some));
  return located;
}

}  // namespace

std::vector<located_keys> locate(const attachment& a, std::span<const std::string_view> keys) {
  if (keys.empty()) return {};
  if (a.shape == attachment::form::sharded) return locate_in_shards(a, keys);
  located_keys all{places_of(a, 0).front()};
  all.origin.reserve(keys.size());
  all.positions.reserve(keys.size() * a.how.probes);
  std::string element;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    apply_funnel(a.funnel, keys[i], element);
    append(a, element, i, all);
  }
  return {std::move(all)};
}

}  // namespace everseen::redis
