#include "everseen/report/made_filters.hpp"

#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/admin/planning.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen {

namespace {

spec_request judged(spec_request request, judge_kind kind) {
  request.judge = kind;
  return request;
}

}  // namespace

std::uint64_t made_filter::bytes() const {
  return growth::plan_layer(properties, 0).shape.bytes * properties.partitions;
}

double made_filter::bits_per_key() const {
  return 8 * static_cast<double>(bytes()) / static_cast<double>(properties.capacity);
}

std::vector<made_filter> filters_made_on_redis(const spec_request& request, bool module) {
  const redis::redis_url one = redis::parse_redis_url("redis://localhost");
  std::vector<made_filter> all;
  if (request.judge.value_or(judge_kind::server) == judge_kind::server)
    all.push_back({"create, where all servers have the module",
                   redis::plan_for_redis(one, judged(request, judge_kind::server))});
  if (request.judge.value_or(module ? judge_kind::server : judge_kind::client) == judge_kind::client)
    all.push_back({request.judge ? "create --judge client" : "create, on a plain Redis",
                   redis::plan_for_redis(one, judged(request, judge_kind::client))});
  return all;
}

std::vector<made_filter> filters_made_on(const store& place, const spec_request& request) {
  return {{"create", place.plan(request)}};
}

}  // namespace everseen
