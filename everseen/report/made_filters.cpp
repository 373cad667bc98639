#include "everseen/report/made_filters.hpp"

#include "everseen/core/spec/growth.hpp"
#include "everseen/redis/admin/planning.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen {

namespace {

spec_request judged(spec_request request, judge_kind by) {
  request.judge = by;
  return request;
}

}  // namespace

std::uint64_t made_filter::bytes() const {
  return growth::plan_layer(of, 0).shape.bytes * of.partitions;
}

double made_filter::bits_per_key() const {
  return 8 * static_cast<double>(bytes()) / static_cast<double>(of.capacity);
}

std::vector<made_filter> filters_made_on_redis(const spec_request& request, std::optional<bool> module) {
  const redis::redis_url one = redis::parse_redis_url("redis://localhost");
  const spec_request by_server = judged(request, judge_kind::server);
  std::vector<made_filter> all;
  if (!module.value_or(false))
    all.push_back({"create, on a plain Redis", redis::plan_for_redis(one, by_server)});
  if (module.value_or(true))
    all.push_back({"create, where all servers have the module",
                   redis::plan_for_redis(one, by_server, redis::judged_by::module)});
  if (!module.value_or(false))
    all.push_back({"create --judge client; dedup and stream, on a plain Redis",
                   redis::plan_for_clients(one, judged(request, judge_kind::client))});
  return all;
}

std::vector<made_filter> filters_made_on(const store& place, const spec_request& request) {
  std::vector<made_filter> all = {{"create", place.plan(judged(request, judge_kind::server))}};
  if (!place.traits().is_remote) return all;
  spec_request undecided = request;
  undecided.judge.reset();
  spec free = place.plan(undecided);
  if (free.judge == judge_kind::client) all.push_back({"create --judge client; dedup and stream", free});
  return all;
}

}  // namespace everseen
