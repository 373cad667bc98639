#include "everseen/cli/stream/stream_ends.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "everseen/cli/stream/jobs.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/url_text.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/jobs/file/file_sink.hpp"
#include "everseen/jobs/file/file_source.hpp"
#include "everseen/jobs/job_marks.hpp"
#include "everseen/jobs/kafka/kafka_sink.hpp"
#include "everseen/jobs/kafka/kafka_source.hpp"
#include "everseen/jobs/redis/redis_stream_sink.hpp"
#include "everseen/jobs/redis/redis_stream_source.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::cli {

namespace {

/// As in the marks of sinks, after the worker.
constexpr std::string_view counts_alone = "counts";
constexpr std::string_view kafka_sign = "kafka topic ";

std::string job_of(const stream_arguments& given) {
  return given.job.value_or(std::string(default_job));
}

std::string worker_of(const stream_arguments& given) {
  return given.worker.value_or(machine_name());
}

void must_be_a_file(const stream_arguments& given) {
  if (given.follow || given.records.header)
    throw parameter_error("--follow and --header are for files; leave them out");
  const bool writes_records =
      is_of_lines(given) || given.seen_to || given.late_to || file_of_bad_events(given);
  if (given.records.zero && !writes_records)
    throw parameter_error("--zero is for records in files, and none is read or written; leave it out");
}

/// The server of a Redis stream: from its name, else the store's.
redis::redis_url server_of(const redis_stream_url& stream, const stream_arguments& given) {
  if (stream.server) return *stream.server;
  try {
    return redis::parse_redis_url(store_url(given.store.url));
  } catch (const parameter_error&) {
    throw parameter_error("the store has no Redis streams; name the server that has " + stream.stream +
                          ", as in redis-stream:" + stream.stream + "@redis://host:6379");
  }
}

stream_source open_kafka_source(const stream_arguments& given) {
  must_be_a_file(given);
  kafka_url url = parse_kafka_url(*given.from);
  if (given.dry_run) {  // in a group with others it would have a part of the partitions, and take theirs
    url.group = "everseen-dry-run-" + percent_encoded(job_of(given)) + '-' + redis::random_name();
    url.until_end = true;
  }
  // Members of one group share the partitions, so each filter and each job has its own group.
  auto opened =
      std::make_unique<kafka_source>(url, "everseen-" + percent_encoded(given.filter_name.value_or("")) +
                                              '-' + percent_encoded(job_of(given)));
  if (given.dry_run) opened->commit_nothing();
  return {std::move(opened), std::nullopt, {}, {}};
}

stream_source open_redis_stream(const stream_arguments& given) {
  must_be_a_file(given);
  if (given.dry_run)
    throw parameter_error(
        "--dry-run touches nothing, and reading a stream as a group changes it; read a file of its events");
  redis_stream_url url = parse_redis_stream_url(*given.from);
  if (url.consumer.empty()) url.consumer = worker_of(given);
  return {std::make_unique<redis_stream_source>(url, server_of(url, given)), std::nullopt, {}, {}};
}

/// A transaction stays open from one settlement to the next, and slightly longer.
void must_settle_in_time(const stream_arguments& given, std::chrono::milliseconds limit) {
  if (!given.settle_every || *given.settle_every * 2 <= limit) return;
  throw parameter_error(fmt::format(
      "--settle-every may be at most half of transaction.timeout.ms, which is {} ms: Kafka ends a "
      "transaction that is open for longer; settle more often, or raise transaction.timeout.ms in the URL "
      "behind --to",
      limit.count()));
}

/// Identifies this job, also against earlier ones of the same name, by the word that it was begun with.
/// Older jobs have the filter's seed instead, which exports carry.
std::string mark_of(const filter& f, const std::string& job, const ledger& ledger) {
  std::string word = word_in(ledger.description());
  if (word.empty()) word = fmt::format("{:016x}", hasher(hash_kind::siphash, f.get_spec().seed)(job).low);
  return fmt::format("{}:{}:{}", percent_encoded(f.name()), percent_encoded(job), word);
}

/// The same, with the worker that owns the file.
file_sink::mark mark_of_worker(const filter& f, const ledger& ledger, const stream_arguments& given) {
  return [&f, &ledger, job = job_of(given), worker = worker_of(given)] {
    return fmt::format("{}:{}", mark_of(f, job, ledger), worker);
  };
}

}  // namespace

stream_source open_source(const stream_arguments& given) {
  if (is_kafka_url(*given.from)) return open_kafka_source(given);
  if (is_redis_stream_url(*given.from)) return open_redis_stream(given);
  file_source::options settings;
  settings.format = given.records.format();
  settings.follow = given.follow;
  if (given.block_bytes) settings.block_bytes = *given.block_bytes;
  settings.worker = worker_of(given);
  settings.idle = stop_if_signalled;
  if (!given.quiet)
    settings.on_first_block = [warnings = input_warnings(given.records),
                               name = *given.from == "-" ? "standard input" : *given.from](
                                  std::string_view text) mutable { warnings.look_at(text, name); };
  auto file = std::make_unique<file_source>(*given.from, settings);
  const auto bytes = given.follow ? std::nullopt : file->total_bytes();
  std::string lane = file->lane();
  auto header = file->header();
  return {std::move(file), bytes, std::move(lane), std::move(header)};
}

stream_sink open_sink(const stream_arguments& given, const filter& f, const ledger& ledger,
                      const stream_source& from, int descriptor) {
  if (given.dry_run) return {};
  if (counts_only(given)) return {{}, std::string(counts_alone), {}};
  const record_format format = given.records.format();
  const char separator = format.separator;
  if (*given.target == "-")
    return {
        std::make_unique<output_sink>(descriptor, "standard output", from.header, separator, format.quoted),
        "-",
        {}};
  if (is_kafka_url(*given.target)) {
    auto* const kafka =
        dynamic_cast<kafka_source*>(from.opened.get());  // the transactions include its offsets
    const kafka_url url = parse_kafka_url(*given.target);
    auto opened = std::make_unique<kafka_sink>(url, job_of(given), kafka);
    if (kafka != nullptr) must_settle_in_time(given, opened->transaction_limit());
    return {std::move(opened), fmt::format("{}{}", kafka_sign, fmt::join(url.topics, ",")), {}};
  }
  if (is_redis_stream_url(*given.target)) {
    const redis_stream_url url = parse_redis_stream_url(*given.target);
    const auto mark = [&f, &ledger, job = job_of(given)] { return mark_of(f, job, ledger); };
    return {std::make_unique<redis_stream_sink>(url, server_of(url, given), mark),
            "redis-stream:" + url.stream,
            {}};
  }
  auto file = std::make_unique<file_sink>(*given.target, mark_of_worker(f, ledger, given));
  if (from.header) file->begin_new_with(*from.header);
  file->separate_by(separator);
  std::string path = file->path();
  return {std::move(file), std::move(path), worker_of(given)};
}

bool sink_needs_value(const stream_arguments& given) {
  if (is_of_lines(given)) return true;
  if (counts_only(given) || !is_redis_stream_url(*given.target)) return false;
  const bool keeps_fields =
      is_redis_stream_url(*given.from) && parse_redis_stream_url(*given.target).field.empty();
  return !keeps_fields;
}

namespace {

[[noreturn]] void refuse_another_place(const stream_arguments& given, const std::string& so_far,
                                       const std::string& current) {
  throw parameter_error(fmt::format(
      "the job '{0}' has put out to {1} so far, and {2} would get only later events; give --to {1}, or "
      "--move-output if that is what you want; with another --filter, all events are put out again (workers "
      "with a file each need a --worker each)",
      job_of(given), so_far, current));
}

/// Records that a crashed run put out and did not settle are repeated at the new place. Exceptions: a file
/// has only settled records, and gets the missing ones; and uncommitted transactions are aborted. Other
/// sinks cannot take anything back.
void take_back_the_rest(const stream_arguments& given, const job_marks::checkpoints& known,
                        const job_marks::sink_mark& left, const file_sink::mark& of_this,
                        const std::function<void(const std::string&)>& say) {
  const auto mark = known.find(job_marks::sink(worker_of(given), left.target));
  if (mark == known.end()) {  // a place that all workers share
    const bool is_by_transactions = is_kafka_url(*given.from) && left.target.starts_with(kafka_sign);
    if (left.target != counts_alone && !is_by_transactions)
      say(fmt::format(
          "if the last run of this job crashed, the events that it had put out to {0} and not settled are "
          "repeated in the new place; to avoid that, let the job end in order with --to {0} before "
          "it is moved",
          left.target));
    return;
  }
  if (mark->second.note.empty()) return;
  try {
    file_sink(left.target, of_this).begin(mark->second.note);
  } catch (const error& why) {
    say(fmt::format(
        "{}; if the last run of this job crashed, the last lines that it settled may be missing there",
        why.what()));
  }
}

}  // namespace

sink_place place_of(const stream_arguments& given, const filter& f, const ledger& ledger,
                    const stream_sink& target, const std::function<void(const std::string&)>& say) {
  if (target.target.empty()) return {};
  std::string name = job_marks::sink(target.worker, target.target);
  const auto known = ledger.checkpoints();
  const auto last = job_marks::last_sink(known, worker_of(given));
  if (!last) return {std::move(name), 0};
  const bool is_same = last->target == target.target;
  std::error_code none;
  const bool is_there = target.worker.empty() || std::filesystem::exists(target.target, none);
  if (is_same && (is_there || !given.move_output)) return {std::move(name), last->order};
  if (!given.move_output) refuse_another_place(given, last->target, target.target);
  if (!is_same) take_back_the_rest(given, known, *last, mark_of_worker(f, ledger, given), say);
  return {std::move(name), last->order + 1};
}

void must_be_the_place(const stream_arguments& given, const ledger& ledger, const stream_sink& target,
                       const sink_place& mark) {
  if (target.target.empty()) return;
  const auto last = job_marks::last_sink(ledger.checkpoints(), worker_of(given));
  if (last && last->target != target.target && last->order >= mark.order)
    refuse_another_place(given, last->target, target.target);
}

std::string end_without_secrets(const std::string& written) {
  if (is_redis_stream_url(written)) {
    const std::size_t position = std::min(written.find('@'), written.size() - 1) + 1;
    return written.substr(0, position) + url_without_password(written.substr(position));
  }
  if (!is_kafka_url(written)) return written;
  std::string shown;
  for (std::size_t from = 0; from < written.size();) {
    const std::size_t end = std::min(written.find('&', from), written.size() - 1) + 1;
    const std::string part = written.substr(from, end - from);
    const std::size_t name = from == 0 ? std::min(part.find('?'), part.size() - 1) + 1 : 0;
    const std::size_t sign = std::min(part.find('=', name), part.size());
    const bool is_secret = is_secret_property(std::string_view(part).substr(name, sign - name));
    shown += is_secret ? part.substr(0, sign) + "=***" + (part.ends_with('&') ? "&" : "") : part;
    from = end;
  }
  return shown;
}

void must_be_our_worker(const stream_arguments& given, const ledger& ledger, const std::string& name) {
  if (given.worker || name.empty()) return;
  const auto known = ledger.checkpoints();
  if (known.contains(name)) return;
  const std::size_t colon = name.find(':');
  const bool is_sink = job_marks::is_of_a_sink(name);
  const std::size_t first = is_sink ? 2 : 0;
  for (const auto& [other, position] : known)
    if (job_marks::is_of_a_sink(other) == is_sink && other.ends_with(name.substr(colon)))
      throw parameter_error(
          fmt::format("this job knows {} of the worker '{}', and this is '{}'; give --worker with the first "
                      "name if this is the same file, or with another one if it is not",
                      name.substr(colon + 1), other.substr(first, other.size() - name.size() + colon - first),
                      name.substr(first, colon - first)));
}

}  // namespace everseen::cli
