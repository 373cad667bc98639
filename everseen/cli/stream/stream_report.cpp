#include "everseen/cli/stream/stream_report.hpp"

#include <fmt/format.h>

#include "everseen/core/base/names.hpp"
#include "everseen/core/spec/time_text.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

std::string job_summary(const job_result& result) {
  const tally& t = result.verdicts;
  const bool has_only_bad = result.bad > 0 && result.events == 0;
  std::string text =
      fmt::format("{}{} {}: {} fresh, {} seen", has_only_bad ? "warning: " : "", format_count(result.events),
                  result.events == 1 ? "event" : "events", format_count(t.fresh), format_count(t.seen));
  if (t.late > 0) text += fmt::format(", {} late", format_count(t.late));
  if (result.bad == 1) text += "; 1 record was no event";
  if (result.bad > 1) text += fmt::format("; {} records were no events", format_count(result.bad));
  if (result.bad > 0) text += (result.bad == 1 ? ": it " : "; the first ") + result.first_bad;
  if (has_only_bad) text += "; is the key right?";
  if (result.replayed > 0)
    text += fmt::format("; {} were judged before by a run that did not end", format_count(result.replayed));
  if (result.passed)
    text += fmt::format("; {} were put out without a verdict: {}", format_count(t.unknown),
                        result.passed->message);
  return text;
}

std::string absence_warning(const job_result& result, const std::string& filter, const std::string& job) {
  return fmt::format(
      "warning: none of the first {} events has {}, so an empty value is counted; if the name is wrong, "
      "begin again: everseen jobs {} --end {}, then everseen reset {}, if it holds nothing else",
      format_count(result.events), fmt::join(result.absent, ", "), name_argument(filter), name_argument(job),
      name_argument(filter));
}

std::string job_stats(const job_result& result, std::chrono::duration<double> lasted) {
  nlohmann::ordered_json json;
  json["events"] = result.events;
  json["fresh"] = result.verdicts.fresh;
  json["seen"] = result.verdicts.seen;
  json["late"] = result.verdicts.late;
  json["unknown"] = result.verdicts.unknown;
  json["bad"] = result.bad;
  json["replayed"] = result.replayed;
  json["watermark"] = nullptr;
  if (result.newest) json["watermark"] = format_event_time(*result.newest);
  json["seconds"] = lasted.count();
  json["bytes"] = result.bytes;
  return json.dump(2) + '\n';
}

}  // namespace everseen::cli
