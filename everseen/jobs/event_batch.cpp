#include "everseen/jobs/event_batch.hpp"

#include <algorithm>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen {

std::uint64_t event_batch::drop_before(std::uint64_t position) {
  const auto first = std::lower_bound(positions.begin(), positions.end(), position);
  const auto count = first - positions.begin();
  if (count == 0) return 0;
  const auto counters = positions.empty() ? 0 : of_event.size() / positions.size();
  of_event.erase(of_event.begin(), of_event.begin() + count * static_cast<std::ptrdiff_t>(counters));
  positions.erase(positions.begin(), first);
  digests.erase(digests.begin(), digests.begin() + count);
  if (!times.empty()) times.erase(times.begin(), times.begin() + count);
  from.records.erase(from.records.begin(), from.records.begin() + count);
  return static_cast<std::uint64_t>(count);
}

void event_batch::end_before(std::size_t event) {
  if (event >= positions.size()) return;
  from.next = positions[event];
  of_event.resize(of_event.size() / positions.size() * event);
  positions.resize(event);
  digests.resize(event);
  if (!times.empty()) times.resize(event);
  from.records.resize(event);
  std::erase_if(bad, [&](const bad_record& each) { return each.position >= from.next; });
  stops_at.reset();
}

event_reader::event_reader(event_shape shape, const filter& known_keys, options settings)
    : rule_(std::move(shape)), known_keys_(known_keys), options_(std::move(settings)) {
  if (known_keys_.get_spec().window && !rule_.shape().time && !options_.clock)
    throw parameter_error("the filter has a window; say where an event has its time");
  if (!rule_.shape().time) no_earlier_ = known_keys_.newest_slice().value_or(event_time::min());
}

event_reader::moment event_reader::now() {
  moment time;
  if (!options_.clock) return time;
  time.read_at = options_.clock();
  no_earlier_ = std::max(no_earlier_, time.read_at);
  if (options_.max_ahead) time.latest = time.read_at + *options_.max_ahead;
  return time;
}

event_batch event_reader::read(source_batch records) {
  event_batch batch;
  batch.read_at = std::chrono::steady_clock::now();
  batch.from = std::move(records);
  const moment time = now();
  std::vector<source_record>& all = batch.from.records;
  const std::size_t count = all.size();
  batch.digests.reserve(count);
  batch.positions.reserve(count);
  batch.of_event.reserve(count * rule_.shape().counts.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    batch.bytes += all[i].bytes.size() + 1;
    const auto fault = add(all[i], time, batch);
    if (!fault) {
      all[kept++] = all[i];
      continue;
    }
    bad_record bad = describe(rule_, all[i].bytes, all[i].position, *fault);
    if (!refusal_.empty()) bad.detail = std::exchange(refusal_, {});
    if ((is_no_record(*fault) ? options_.on_no_record : options_.on_bad) == bad_events::fail) {
      batch.from.next = bad.position;
      batch.stops_at = std::move(bad);
      break;
    }
    batch.bad.push_back(std::move(bad));
  }
  all.resize(kept);
  if (kept > 0 && !std::exchange(has_told_absent_, true)) batch.absent = rule_.absent();
  return batch;
}

std::optional<record_fault> event_reader::add(const source_record& record, const moment& moment_,
                                              event_batch& into) {
  const auto event = rule_.read(record.bytes);
  if (const auto fault = fault_of_envelope(record)) return fault;
  if (!event) return event.error();
  const event_time time = rule_.shape().time ? event->time : no_earlier_;
  if (rule_.shape().time && time > moment_.latest) return record_fault::time_ahead;
  const std::optional<std::string_view> key = key_of(record, event->key);
  if (!key) {
    const std::string& header = rule_.shape().beside->header;
    refusal_ = header.empty() ? "its own is null" : "there is no header " + header;
    return record_fault::no_key;
  }
  const auto hashed = known_keys_.hash().try_hash(*key);
  if (!hashed) {
    refusal_ = known_keys_.refusal_of(*key).value_or("");
    return record_fault::unfit_key;
  }
  into.digests.push_back(*hashed);
  into.positions.push_back(record.position);
  if (known_keys_.get_spec().window) into.times.push_back(time);
  if (rule_.shape().time) into.newest = std::max(into.newest.value_or(time), time);
  for (std::size_t set = 0; set < rule_.shape().counts.size(); ++set)
    into.of_event.push_back(into.names.place_of(rule_.counter(set)));
  return std::nullopt;
}

std::optional<record_fault> event_reader::fault_of_envelope(const source_record& record) const {
  if (record.envelope == nullptr) return {};
  if (!record.has_value() && (options_.needs_value || !rule_.whole_record_is_key()))
    return record_fault::no_value;
  if (options_.separator && record.bytes.find(*options_.separator) != std::string_view::npos)
    return record_fault::separator_inside;
  return {};
}

std::optional<std::string_view> event_reader::key_of(const source_record& record,
                                                     std::string_view in_record) {
  const auto& beside = rule_.shape().beside;
  if (!beside) return record.has_value() ? in_record : key_without_value(*record.envelope);
  if (record.envelope == nullptr) return std::nullopt;
  return beside->header.empty() ? record.envelope->key : record.envelope->header(beside->header);
}

/// A tombstone deletes what its key names, so it is the event "this key was deleted": tombstones of different
/// keys are different events. No text could be mistaken for it: it begins with a zero byte.
std::string_view event_reader::key_without_value(const record_envelope& envelope) {
  using std::string_view_literals::operator""sv;
  made_key_ = "\0no value"sv;
  if (envelope.key) (made_key_ += '\0') += *envelope.key;
  return made_key_;
}

}  // namespace everseen
