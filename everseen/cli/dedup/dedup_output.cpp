#include "everseen/cli/dedup/dedup_output.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "everseen/cli/terminal/progress.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/record_options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/dedup/record/field_rule.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

/// The lines that earlier runs left in the file, which did not end: their keys may be missing in the filter.
/// @return how many
std::uint64_t add_keys_of(const continued_file& file, dedup_options options, dedup_filter& seen) {
  record_format format = options.format;
  format.decompress = false;
  block_reader lines({file.hidden().string()}, format, dedup_block_bytes);
  const std::string header = format.header ? lines.header().value_or("") : "";
  const auto names = [&](const std::string& line) { return header_names(line, format, file.path()); };
  const std::string of_input = options.header.value_or("");
  if (format.header && names(header) != names(of_input))
    throw parameter_error(
        fmt::format("{} was begun with the header '{}', and the input has '{}': give it an input with the "
                    "fields that it has, or another --output",
                    file.path(), header, of_input));
  const descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  output none(nowhere.get(), "/dev/null");
  options.adding_keys = dedup_options::adding_order::ahead;
  options.without_key = options.no_record = options.late = dedup_options::fate::drop;
  options.progress = [](const dedup_result&) { stop_if_signalled(); };
  const dedup_result added = deduplicate(lines, *seen, none, options);
  if (added.failure) added.failure->raise();
  return added.records;
}

/// The filter, wherever the program is run, and how lines are read, as the next run reads these.
std::string writer_of(const dedup_arguments& given, dedup_filter& seen) {
  constexpr std::string_view files = "file:";
  std::string store = shown_store(given.store);
  if (store.starts_with(files)) {
    const std::string path = store.substr(files.size(), store.find('?') - files.size());
    store = std::string(files) + std::filesystem::weakly_canonical(path).string();
  }
  return fmt::format("--filter {} --store {}{}", name_argument(seen->name()), store,
                     shown_records(given.records));
}

}  // namespace

dedup_output::dedup_output(const dedup_arguments& given, printer& out) : given_(given) {
  if (given.output && given.filter_name && continued_file::is_possible(*given.output)) return;
  if (given.output) whole_.emplace(*given.output, new_file::readers::usual);
  lines_.emplace(whole_ ? whole_->number() : out.descriptor(), whole_ ? whole_->path() : "standard output");
}

void dedup_output::open(const dedup_options& options, dedup_filter& seen) {
  if (lines_) {
    if (seen.is_kept() && lines_->end_record(options.format.separator, options.format.quoted) &&
        !given_.quiet)
      fmt::print(stderr,
                 "everseen: the output ended in the middle of a line, of a run that was killed or failed; "
                 "that line is ended now, and may occur again whole\n");
    return;
  }
  continued_.emplace(*given_.output, writer_of(given_, seen));
  if (continued_->lost_bytes() > 0 && !given_.quiet)
    fmt::print(
        stderr,
        "everseen: warning: the {} bytes that an earlier run wrote for {} were taken away before it ended; "
        "their lines are in the filter and are not printed again\n",
        continued_->lost_bytes(), continued_->path());
  if (!is_new()) {
    const std::uint64_t found = add_keys_of(*continued_, options, seen);
    if (!given_.quiet)
      fmt::print(stderr, "everseen: {} begins with {} lines of an earlier run, which did not end\n",
                 continued_->path(), found);
  }
  lines_.emplace(continued_->number(), continued_->path());
}

void dedup_output::end_if_asked() const {
  stop_if_signalled();
  if (lines_) lines_->check_reader();
}

void dedup_output::settle() {
  if (continued_) return continued_->settle();
  using clock = std::chrono::steady_clock;
  constexpr auto patience = std::chrono::seconds(2);
  const clock::time_point begun = clock::now();
  std::optional<clock::time_point> signalled_at;
  lines_->sync();
  lines_->wait_until_read([&] {
    if (clock::now() - begun > patience && lines_->is_untouched()) return false;
    if (!is_signalled()) return true;
    if (!signalled_at) signalled_at = clock::now();
    if (clock::now() - *signalled_at > patience) stop_if_signalled();
    return true;
  });
}

void dedup_output::publish() {
  if (whole_) whole_->publish();
  if (continued_) continued_->publish();
}

void dedup_output::note_left() const {
  if (!continued_ || is_new()) return;
  fmt::print(
      stderr,
      "everseen: {} is not written yet; its first {} bytes are in {}, and the next run with this --filter "
      "and --output continues it\n",
      continued_->path(), continued_->settled_bytes(), continued_->hidden().string());
}

namespace {

/// Expected number of fresh lines that this run dropped (false positives), by the formulas.
double expected_drops(const filter_info& before, const filter_info& after, const dedup_result& result) {
  const double counted = after.expected_false_seen - before.expected_false_seen;
  // Slices that expired in between took their share with them; the promised rate is then the best bound.
  return after.spec.window ? after.spec.error_rate * static_cast<double>(result.verdicts.fresh) : counted;
}

}  // namespace

std::string dedup_summary(const dedup_result& result, std::chrono::duration<double> lasted) {
  std::string text = fmt::format("{} {}: {} kept, {} dropped", format_count(result.records),
                                 result.records == 1 ? "line" : "lines", format_count(result.written),
                                 format_count(result.records - result.written));
  if (result.verdicts.late > 0) text += fmt::format(", {} late", format_count(result.verdicts.late));
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
