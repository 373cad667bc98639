#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/cli/dedup/dedup_arguments.hpp"
#include "everseen/cli/dedup/dedup_filter.hpp"
#include "everseen/cli/dedup/dedup_output.hpp"
#include "everseen/cli/dedup/run_mark.hpp"
#include "everseen/cli/long_run/filter_options.hpp"
#include "everseen/cli/long_run/outage_watch.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/progress.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/dedup/count_records.hpp"
#include "everseen/dedup/dedup.hpp"

namespace everseen::cli {

namespace {

/// Nothing if the store is unavailable: the run's own counts are still known.
std::optional<filter_info> info_if_there(const filter& f) {
  try {
    return f.info();
  } catch (const backend_error&) {
    return {};
  }
}

/// The counts matter most after a failure; but the failure is reported first.
void write_after_failure(const dedup_stats& stats, const dedup_result& result, const filter& f) {
  try {
    stats.write(result, info_if_there(f));
  } catch (const error&) {  // the original error is reported
  }
}

/// @throws  the exception for the failure, with the location in the input
[[noreturn]] void report(batch_failure failure, const dedup_result& result, const std::string& note) {
  if (result.first_unknown > 0)
    failure.message += fmt::format(
        "; {} is the first of {} without an answer, which were not printed, and no more input was read{}",
        result.first_unknown_place, result.verdicts.unknown,
        failure.why == batch_failure::cause::full
            ? ". FILE must have only lines that were printed: all others count as printed afterwards"
            : "");
  if (!note.empty()) failure.message += "; " + note;
  failure.raise();
}

/// The message about a kept filter if output lines were lost.
std::string about_lost_lines(std::string_view filter_name) {
  return fmt::format(
      "the filter {} remembers lines that were not printed, and the next run will not print them: start "
      "again from a copy of the filter (everseen import), or with another --filter",
      quoted_name(filter_name));
}

/// The message about a kept filter if output failed before keys were kept.
std::string about_repeated_lines(std::string_view filter_name) {
  return fmt::format(
      "the filter {} has no line that was not written: the next run prints them, and may repeat some of the "
      "last ones",
      quoted_name(filter_name));
}

/// The message about a kept filter on servers that went away: a batch may have arrived though its answer did
/// not.
std::string about_lost_answers(std::string_view filter_name) {
  return fmt::format(
      "the filter {} may remember some of the lines without an answer, and the next run will not print "
      "those: start again from a copy of the filter (everseen import), or with another --filter",
      quoted_name(filter_name));
}

/// Prints surprising results on standard error.
void note_oddities(const dedup_result& result, const dedup_options& options, progress_line& notes) {
  const bool passed = options.late == dedup_options::fate::pass;
  if (result.first_late > 0)
    notes.say(fmt::format("{} of {} lines were older than the window and were {}; the first is {}{}",
                          result.verdicts.late, result.records, passed ? "printed" : "dropped",
                          result.first_late_place, passed ? "" : " (--late pass prints them)"));
  if (const auto count = result.without_key + result.malformed; count > 0)
    notes.say(keyless_note({count, result.records, result.first_without_key},
                           options.time ? "key or time" : "key",
                           options.without_key == dedup_options::fate::pass ? "printed" : "dropped"));
  if (result.passed)
    notes.say(fmt::format("{} lines were printed without a verdict: {}", result.verdicts.unknown,
                          result.passed->message));
}

/// What a run that succeeded says on standard error.
void note_end(const dedup_arguments& given, const dedup_options& options, const dedup_result& result,
              progress_line& notes) {
  note_oddities(result, options, notes);
  if (given.verbose || ::isatty(STDERR_FILENO) == 1) notes.say(dedup_summary(result, notes.lasted()));
}

/// One run, with progress and an outage policy.
struct watched_run {
  const dedup_arguments& given;
  dedup_options options;
  block_reader& input;
  dedup_filter& seen;
  dedup_output& target;
  run_mark* mark;  // null: none

  void operator()(dedup_result& result) {
    progress_line progress(input.total_bytes(), seen->stored().path().text);
    if (given.quiet) progress.hide();
    const auto ends = [this] { return is_signalled() || target.lines().is_abandoned(); };
    const watched_store watched(seen.home(), std::make_shared<outage_watch>(
                                                 given.on_outage.value_or(outage_watch::policy::fail),
                                                 [&](const std::string& text) { progress.say(text); }, ends));
    bool has_warned = false;
    options.progress = [&](const dedup_result& so_far) {
      if (is_signalled() && may_have_lost_answers(so_far) && !std::exchange(has_warned, true))
        progress.say(about_lost_answers(seen->name()));
      target.end_if_asked();
      progress.show({so_far.records, so_far.bytes});
    };
    if (options.adding_keys == dedup_options::adding_order::before_block)
      options.settle_output = [&](std::size_t records) {
        target.lines().wait_until_read([&] {
          target.end_if_asked();
          return true;
        });
        target.end_if_asked();
        if (mark) mark->expect(records);
      };
    if (options.adding_keys == dedup_options::adding_order::after_block)
      options.settle_output = [&](std::size_t) { target.settle(); };
    load_with_progress(*seen, progress);
    if (mark && options.adding_keys == dedup_options::adding_order::ahead)
      mark->expect(run_mark::several_blocks);
    try {
      deduplicate(input, *seen, target.lines(), options, result);
      if (result.failure) target.end_if_asked();  // then it is not a failure of the store
    } catch (const storage_error& e) {
      if (!seen.is_kept() || target.is_continued() || e.path() != target.lines().name() ||
          result.verdicts.fresh == 0)
        throw;
      const bool repeats = options.adding_keys == dedup_options::adding_order::after_block;
      const std::string outcome =
          repeats ? about_repeated_lines(seen->name()) : about_lost_lines(seen->name());
      if (e.code() != EPIPE)
        throw storage_error(fmt::format("{}; {}", e.what(), outcome), e.code(), e.path());
      if (!repeats) progress.say(outcome);  // EPIPE itself ends the program without a message
      throw;
    }
    if (result.failure)
      report(*result.failure, result,
             result.failure->why == batch_failure::cause::backend && may_have_lost_answers(result)
                 ? about_lost_answers(seen->name())
                 : "");
    if (given.stats == "-" || given.quiet) return;
    note_end(given, options, result, progress);
    if (result.first_late == 0) return;
    if (const auto current = info_if_there(*seen))
      if (const auto why = future_warning(*current)) progress.say("warning: " + *why);
  }

  [[nodiscard]] bool may_have_lost_answers(const dedup_result& result) const {
    return seen.is_kept() && seen.is_remote() && result.first_unknown > 0;
  }
};

/// A crash loses or repeats the lines of a block of a kept filter.
constexpr std::size_t careful_block_bytes = std::size_t{128} << 10;
/// The same where each block waits for a sync of the disk, which takes milliseconds.
constexpr std::size_t synced_block_bytes = std::size_t{1} << 20;
/// A server's answers are awaited meanwhile, and a filter there has no pages to translate.
constexpr std::size_t remote_block_bytes = std::size_t{512} << 10;
/// A reader that wants a few lines only, as head does, leaves the rest of a block unread.
constexpr std::size_t first_block_bytes = std::size_t{4} << 10;

std::size_t block_bytes_for(dedup_options::adding_order keys, const output& lines, bool is_remote) {
  if (keys == dedup_options::adding_order::ahead) return is_remote ? remote_block_bytes : dedup_block_bytes;
  const bool waits_for_disk = keys == dedup_options::adding_order::after_block && lines.is_file();
  return waits_for_disk ? synced_block_bytes : careful_block_bytes;
}

std::string about_lost_run(const run_mark::lost_run& lost, std::string_view filter_name, bool is_remote) {
  return fmt::format(
      "a run over the filter {} that began at {} did not end in order: {} may be missing in its output, and "
      "are repeats now; {}",
      quoted_name(filter_name), lost.began,
      lost.lines == run_mark::several_blocks ? "several blocks of its last lines"
                                             : fmt::format("up to {} of its last lines", lost.lines),
      is_remote ? "everseen stream with a --job loses and repeats none"
                : "without --on-crash lose and --judge-ahead none are lost");
}

/// A mark of this run if its keys are kept before their lines are printed. Reports runs that were killed.
std::unique_ptr<run_mark> mark_of(const dedup_arguments& given, dedup_options::adding_order keys,
                                  dedup_filter& seen) {
  if (!seen.is_kept() || keys == dedup_options::adding_order::after_block) return nullptr;
  try {
    auto mark = std::make_unique<run_mark>(shown_store(given.store) + ' ' + seen->name());
    for (const auto& lost : mark->found())
      fmt::print(stderr, "everseen: {}\n", about_lost_run(lost, seen->name(), seen.is_remote()));
    return mark;
  } catch (const error& e) {
    if (!given.quiet)
      fmt::print(stderr, "everseen: if this run is killed, the next one will not know it: {}\n", e.what());
    return nullptr;
  }
}

/// --count and its like: without a filter.
void count(const dedup_arguments& given, block_reader& input, const dedup_options& options,
           dedup_output& target) {
  std::optional<dedup_stats> stats;
  if (given.stats) stats.emplace(*given.stats);
  progress_line progress(input.total_bytes(), {});
  if (given.quiet) progress.hide();
  dedup_options with_progress = options;
  with_progress.progress = [&](const dedup_result& result) {
    target.end_if_asked();
    progress.show({result.records, result.bytes});
  };
  dedup_result result;
  if (options.header) target.lines().write(*options.header + options.format.separator);
  count_records(input, target.lines(), with_progress, counted_of(given), result);
  if (given.stats != "-" && !given.quiet) note_end(given, options, result, progress);
  if (stats) stats->write(result, std::nullopt);
}

exit_code dedup(const dedup_arguments& given, printer& out) {
  note_signals();
  must_have_effect(given);
  dedup_output target(given, out);
  block_reader input(given.files, given.records.format(), dedup_block_bytes);
  if (given.filter_name && target.is_pipe()) input.begin_with(first_block_bytes);
  input.while_waiting([&] { target.end_if_asked(); });
  if (!given.quiet) watch_input(input, given.records);
  dedup_options options = dedup_options_of(given, given.records.header ? input.header() : std::nullopt);
  if (counts_exactly(given)) {
    count(given, input, options, target);
    target.publish();
    return exit_code::done;
  }
  std::optional<dedup_stats> stats;
  if (given.stats) stats.emplace(*given.stats);  // a wrong path must not leave a new filter behind
  dedup_filter seen(given, input);
  if (const auto& window = seen->get_spec().window; window && !options.max_ahead)
    options.max_ahead = window::most_ahead(*window);
  options.threads = given.threads ? static_cast<unsigned>(*given.threads) : seen.useful_threads();

  dedup_result result;
  try {
    options.adding_keys = seen.adding_of(given);
    target.open(options, seen);
    input.limit_blocks(block_bytes_for(options.adding_keys, target.lines(), seen.is_remote()));
    if (stats) stats->begin(seen->info());
    if (options.header && target.is_new()) target.lines().write(*options.header + options.format.separator);
    const auto mark = mark_of(given, options.adding_keys, seen);
    watched_run{given, options, input, seen, target, mark.get()}(result);
    seen.sync();
    target.publish();
  } catch (...) {
    target.note_left();
    if (stats) write_after_failure(*stats, result, *seen);
    seen.discard_if_unused();
    throw;
  }
  if (stats) stats->write(result, info_if_there(*seen));
  target.end();
  return exit_code::done;
}

action declare_dedup(option_set& known) {
  const auto given = std::make_shared<dedup_arguments>();
  declare_dedup_arguments(known, *given);
  return [given](printer& out) { return dedup(*given, out); };
}

constexpr std::string_view dedup_details =
    "Prints each line the first time it occurs, in the order of the input, in memory of a few bytes a line. "
    "A line that is printed is certainly the first of its kind; of the new lines at most the error rate is "
    "dropped by mistake, one in a million unless you say otherwise.\n\n"
    "Lines are compared byte by byte: except with --csv, a carriage return is part of its line, and a "
    "newline "
    "is added to a last line without one. Keys may contain any bytes. With --filter the keys are remembered "
    "in a named "
    "filter, and lines printed by an earlier run count as repeats.\n\n"
    "Lines are split at every delimiter. With --csv, quoted fields are understood, and a quotation mark "
    "where CSV allows none is an error. The key of a JSON string is its unescaped bytes, and that of any "
    "other value its text in the input: 1 and \"1\" are one key, 1 and 1.0 are two, and null is the same key "
    "as \"null\". If the value is missing, there is no key: see --missing-key.\n\n"
    "With --window, a line that is older than the window is late: nothing is known about it, and it is "
    "dropped and counted unless --late says otherwise. A single time far in the future would make all later "
    "lines late; therefore a time that is ahead of the clock by more than --max-ahead counts as "
    "unreadable.\n\n"
    "Filters on servers may be shared by any number of runs, which print each line once between them. If a "
    "server is unavailable for longer than the URL's retry_for, --on-outage decides: the run stops and names "
    "the first line without an answer (fail), prints lines without a verdict (pass), or waits until the "
    "server answers (hold), which loses and repeats no line. This applies once the filter is open: if the "
    "server cannot be reached at the start, the run ends.\n\n"
    "After a failure, the next run with the same --filter continues. If the filter is in files, its keys are "
    "kept only once their lines are written (to the disk, if the output is a file) or taken by the reader of "
    "a pipe: a crash loses no line, and repeats at most a block. With --on-crash lose, and with servers, "
    "keys are kept first: a crash repeats no line, and loses at most a block, which the next run takes for "
    "repeats; to avoid that, start again from a copy of the filter (everseen export). A block is 128 KiB of "
    "lines, or 1 MiB where each is synced, rounded up to a line. The counts of --stats are also "
    "written after a failure.\n\n"
    "With --count, -d, -u and --keep last, no filter is used: it could not count. Each different line is "
    "kept in memory, the counts "
    "are exact, and they are printed when the input has ended.";

}  // namespace

verb dedup_verb() {
  return {
      .name = "dedup",
      .purpose = "Print each line the first time it occurs",
      .details = dedup_details,
      .examples =
          {
              {"Drop repeated lines of a file", "everseen dedup words.txt > once.txt",
               "printf 'a\\nb\\na\\n' > words.txt"},
              {"As part of a pipeline, with one wrong drop in a billion",
               "cat words.txt | everseen dedup --error-rate 1e-9 | wc -l",
               "printf 'a\\nb\\na\\n' > words.txt"},
              {"By a field of a CSV file, showing what is dropped",
               "everseen dedup --csv --header --key user --repeated clicks.csv",
               "printf 'id,page,user\\n1,\"a, b\",u1\\n2,y,u1\\n' > clicks.csv"},
              {"Events as JSON, the same id within ten minutes only once",
               "everseen dedup --key-json /id --window 10m --time-json /time events.json",
               "everseen gen clicks --count 100 > events.json"},
              {"Remember across runs what was printed", "everseen dedup --filter urls todays-urls.txt",
               "printf 'a\\nb\\na\\n' > todays-urls.txt"},
              {"How often each line occurs, in the order of the input", "everseen dedup -c words.txt",
               "printf 'a\\nb\\na\\n' > words.txt"},
              {"File names, whatever is in them",
               "find . -type f -print0 | everseen dedup -0 | xargs -0 ls -d"},
              {"Counts as JSON on standard error", "everseen dedup --stats words.txt > /dev/null",
               "printf 'a\\nb\\na\\n' > words.txt"},
          },
      .declare = declare_dedup,
  };
}

}  // namespace everseen::cli
