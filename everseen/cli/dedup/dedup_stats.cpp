#include "everseen/cli/dedup/dedup_stats.hpp"

#include <utility>

#include "everseen/text/json.hpp"

namespace everseen::cli {

namespace {

/// Expected number of fresh lines that this run dropped (false positives), by the formulas.
double expected_drops(const filter_info& before, const filter_info& after, const dedup_result& result) {
  const double counted = after.expected_false_seen - before.expected_false_seen;
  // Slices that expired in between took their share with them; the promised rate is then the best bound.
  return after.spec.window ? after.spec.error_rate * static_cast<double>(result.verdicts.fresh) : counted;
}

}  // namespace

void dedup_stats::begin(filter_info before) {
  before_ = std::move(before);
  begin_ = std::chrono::steady_clock::now();
}

void dedup_stats::write(const dedup_result& result, const std::optional<filter_info>& after) const {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
  nlohmann::ordered_json json;
  json["lines"] = result.records;
  json["fresh"] = result.verdicts.fresh;
  json["seen"] = result.verdicts.seen;
  json["late"] = result.verdicts.late;
  json["unknown"] = result.verdicts.unknown;
  json["without_key"] = result.without_key;
  json["malformed"] = result.malformed;
  json["expected_false_drops"] = nullptr;
  if (after) json["expected_false_drops"] = expected_drops(before_, *after, result);
  json["seconds"] = time.count();
  json["bytes"] = result.bytes;
  json["filter"] = nullptr;
  if (after)
    json["filter"] = {{"name", after->name},
                      {"error_rate", after->spec.error_rate},
                      {"error_rate_now", after->error_rate_now},
                      {"layout", to_string(after->spec.layout)},
                      {"keys", after->keys},
                      {"bytes", after->bytes}};
  file_.write(json.dump(2) + "\n");
}

}  // namespace everseen::cli
