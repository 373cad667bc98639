#include "everseen/cli/dedup/dedup_stats.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "everseen/cli/terminal/progress.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

/// Expected number of fresh lines that this run dropped (false positives), by the formulas.
double expected_drops(const filter_info& before, const filter_info& after, const dedup_result& result) {
  const double counted = after.expected_false_seen - before.expected_false_seen;
  // Slices that expired in between took their share with them; the promised rate is then the best bound.
  return after.spec.window ? after.spec.error_rate * static_cast<double>(result.verdicts.fresh) : counted;
}

}  // namespace

std::string dedup_summary(const dedup_result& result, const dedup_options& options,
                          std::chrono::duration<double> lasted) {
  using fate = dedup_options::fate;
  const tally& v = result.verdicts;
  const bool wants_fresh = options.wanted == verdict::fresh;
  const bool passes_late = wants_fresh && options.late == fate::pass;
  std::uint64_t kept = wants_fresh ? v.fresh : v.seen;
  if (passes_late) kept += v.late;
  if (wants_fresh && result.passed) kept += v.unknown;
  if (options.without_key == fate::pass) kept += result.without_key + result.malformed;
  std::string text = fmt::format("{} {}: {} kept, {} dropped", format_count(result.records),
                                 result.records == 1 ? "line" : "lines", format_count(kept),
                                 format_count(result.records - kept));
  if (v.late > 0) text += fmt::format(", {} late", format_count(v.late));
  return text + fmt::format("; {}",
                            per_second(static_cast<double>(result.records) / std::max(lasted.count(), 1e-6)));
}

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
