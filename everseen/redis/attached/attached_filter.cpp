#include "everseen/redis/attached/attached_filter.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/tally_of.hpp"
#include "everseen/redis/transport/backoff.hpp"
#include "everseen/redis/transport/drive.hpp"
#include "everseen/redis/wire/refusal.hpp"
#include "everseen/store/port/unanswered.hpp"

namespace everseen::redis {

namespace {

/// Bytes that one command counts or fetches: a fraction of a millisecond.
constexpr std::uint64_t page_bytes = std::uint64_t{1} << 20;
/// A server answers a pipeline before it looks at others, so these are what they wait for.
constexpr std::size_t pages_at_once = 2;
/// How long another program may take from moving the cursor to beginning its string.
constexpr std::chrono::milliseconds begins_within = std::chrono::seconds(1);

route route_to(const bitmap_place& p) {
  return {p.key, p.instance};
}

tally tally_of_all(std::span<const partition_batch> batches) {
  tally sum;
  for (const partition_batch& batch : batches) sum += tally_of(batch.out);
  return sum;
}

std::vector<reply> ask(session& with, const bitmap_place& place, std::string wire, std::size_t commands) {
  const request r{route_to(place), std::move(wire), commands, true};
  answer a = std::move(with.exchange(std::span(&r, 1)).front());
  if (!a) throw backend_error(a.error().message);
  for (const reply& each : *a) {
    if (each.is_error("WRONGTYPE")) throw format_error(string_fault::of_another_type(place.key));
    if (each.is_error()) throw backend_error(refused_command(place.key, each.text()));
  }
  return *std::move(a);
}

/// One answer a page of a string, from commands that name a first and a last byte.
template <typename Take>
void for_each_page(session& with, const bitmap_place& place, std::uint64_t bytes, std::string_view command,
                   Take take) {
  for (std::uint64_t from = 0; from < bytes;) {
    std::string wire;
    std::size_t pages = 0;
    for (; from < bytes && pages < pages_at_once; ++pages) {
      const std::uint64_t end = std::min(bytes, from + page_bytes);
      wire += encode({command, place.key, std::to_string(from), std::to_string(end - 1)});
      from = end;
    }
    for (const reply& page : ask(with, place, std::move(wire), pages)) take(page);
  }
}

std::vector<bitmap_place> places_now(session& with, const attachment& a) {
  if (a.shape != attachment::form::growing) return places_of(a, 0);
  const reply cursor = ask(with, {a.cursor, 0}, encode({"GET", a.cursor}), 1).front();
  const auto newest = cursor.is_nil() ? std::optional<std::uint64_t>(0) : cursor_number(cursor.text());
  if (!newest) throw format_error(string_fault::of_cursor(a.cursor, cursor.text()));
  const std::string second = growing_key(a, 1);
  if (cursor.is_nil() && ask(with, {second, 0}, encode({"EXISTS", second}), 1).front().integer() == 1)
    throw format_error(string_fault::of_lost_cursor(a.cursor, second));
  return places_of(a, *newest);
}

std::uint64_t length_of(session& with, const attachment& a, const bitmap_place& place) {
  const std::int64_t bytes = ask(with, place, encode({"STRLEN", place.key}), 1).front().integer();
  if (bytes > static_cast<std::int64_t>(longest_bytes(a)))
    throw format_error(string_fault::of_length(place.key, a));
  return static_cast<std::uint64_t>(bytes);
}

/// Their lengths alone.
std::vector<bitmap> measure(session& with, const attachment& a) {
  std::vector<bitmap> all;
  for (const bitmap_place& place : places_now(with, a))
    all.push_back({place, to_string(with.server_of(route_to(place))), length_of(with, a, place)});
  return all;
}

/// Waits for strings that another program is about to begin, for at most `limit` from the first on.
void drive_to_the_end(session& with, std::chrono::milliseconds limit, std::vector<attached_task>& tasks) {
  using clock = std::chrono::steady_clock;
  std::optional<clock::time_point> until;
  backoff pauses;
  for (;;) {
    drive(with, tasks);
    if (std::ranges::none_of(tasks, &attached_task::held)) return;
    if (!until) until = clock::now() + limit;
    const bool again = clock::now() < *until;
    if (again) std::this_thread::sleep_for(pauses.next());
    for (attached_task& task : tasks)
      if (task.held()) again ? task.go_on() : task.give_up_waiting();
  }
}

}  // namespace

std::vector<bitmap> survey(session& with, const attachment& a) {
  std::vector<bitmap> all = measure(with, a);
  for (bitmap& b : all)
    for_each_page(with, b.place, b.bytes, "BITCOUNT",
                  [&](const reply& page) { b.set_bits += static_cast<std::uint64_t>(page.integer()); });
  return all;
}

void require_gear(const redis_url& url, const attachment& a) {
  if (!url.gear || *url.gear == gear_kind::script) return;
  if (*url.gear != gear_kind::bitfield)
    throw parameter_error(
        "an attached filter is served by scripts or by BITFIELD; give gear=script or gear=bitfield, or leave "
        "gear= out");
  if (a.shape == attachment::form::growing)
    throw parameter_error("a growing filter needs scripts; leave gear=bitfield out of the URL");
}

attached_filter::attached_filter(std::shared_ptr<session_pool> pool, attachment a, std::string own,
                                 access how)
    : pool_(std::move(pool)), names_{std::move(a), std::move(own)}, spec_(spec_of(names_.to)), how_(how) {}

batch_result attached_filter::add(std::span<const partition_batch> batches) {
  if (how_ == access::read)
    return unanswered(batches, batch_failure::cause::storage,
                      "the filter was opened for reading; open it for writing to add keys");
  return run(batches, attached_task::purpose::add);
}

batch_result attached_filter::check(std::span<const partition_batch> batches) const {
  return run(batches, attached_task::purpose::check);
}

batch_result attached_filter::run(std::span<const partition_batch> batches,
                                  attached_task::purpose what) const {
  for (const partition_batch& batch : batches) std::ranges::fill(batch.out, verdict::unknown);
  std::optional<batch_failure> failure;
  try {
    failure = judge(batches, what);
  } catch (...) {  // the system has no more memory, or descriptors
    failure = batch_failure::from_current_exception();
  }
  const tally done = tally_of_all(batches);
  if (!failure) return done;
  failure->done = done;
  return tl::unexpected(*std::move(failure));
}

std::optional<batch_failure> attached_filter::judge(std::span<const partition_batch> batches,
                                                    attached_task::purpose what) const {
  const session_pool::lease with = pool_->take();
  std::vector<attached_task> tasks;
  for (const partition_batch& batch : batches) {
    EVERSEEN_ASSERT(batch.keys.size() == batch.out.size());
    for (located_keys& some : locate(names_.to, batch.keys))
      tasks.emplace_back(names_, what, std::move(some), batch.out, commands_now(*with));
  }
  drive_to_the_end(*with, std::min(pool_->url().retry_for, begins_within), tasks);
  std::optional<batch_failure> failure;
  for (const attached_task& task : tasks) {
    if (!task.learned().by_script && task.learned().may_change) no_scripts_ = true;
    newest_ = task.learned().newest;
    if (!failure) failure = task.failure();
  }
  return failure;
}

attached_task::commands attached_filter::commands_now(const session& with) const {
  const auto& gear = pool_->url().gear;
  const bool by_script = gear != gear_kind::bitfield && !no_scripts_;
  return {with.name(), by_script || names_.to.shape == attachment::form::growing,
          by_script && gear != gear_kind::script, newest_};
}

std::string attached_filter::access_path() const {
  return commands_now(*pool_->take()).by_script ? "redis, attached, script" : "redis, attached, bitfield";
}

void attached_filter::wait_with(std::shared_ptr<retry_policy> p) {
  names_.keeps_answers = p ? answers_kept_in_an_outage : answers_kept;
  pool_->wait_with(std::move(p));
}

std::string attached_filter::place_of(std::uint32_t /*partition*/) const {
  const session_pool::lease with = pool_->take();
  return to_string(with->server_of(route_to(places_of(names_.to, 0).front())));
}

std::vector<bitmap> attached_filter::survey() const {
  return redis::survey(*pool_->take(), names_.to);
}

std::vector<bitmap> attached_filter::strings() const {
  return measure(*pool_->take(), names_.to);
}

double attached_filter::estimated_keys(std::uint64_t set_bits) const {
  const auto bits = static_cast<double>(reachable_bits(names_.to));
  // A string whose bits are all set may hold any number of keys. With one bit less there is an estimate.
  const double set = std::min(static_cast<double>(set_bits), bits - 1);
  return -bits / names_.to.how.probes * std::log1p(-set / bits);
}

double attached_filter::error_rate_now(const std::vector<bitmap>& all) const {
  const auto bits = static_cast<double>(reachable_bits(names_.to));
  double right = 1;
  double sum = 0;
  for (const bitmap& b : all) {
    const double rate = std::pow(static_cast<double>(b.set_bits) / bits, names_.to.how.probes);
    right *= 1 - rate;
    sum += rate;
  }
  // A key is looked up in every string of a chain, but in one of the shards.
  if (names_.to.shape == attachment::form::growing) return 1 - right;
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

std::vector<std::string> attached_filter::doubts(const std::vector<bitmap>& all) const {
  std::vector<std::string> found;
  if (const auto hash = compat::warning_about(names_.to.how); !hash.empty()) found.emplace_back(hash);
  if (names_.to.shape == attachment::form::growing)
    found.emplace_back(
        "each string of a growing filter has the whole error rate, so with every string it errs more");
  const bool random_hashes =
      names_.to.how.which == compat::family::gozero || names_.to.how.which == compat::family::guava64;
  for (const bitmap& b : all) {
    const std::string& key = b.place.key;
    // The last of this many random bits is near the end, except with a chance of one in 10^21.
    const double reached = static_cast<double>(8 * b.bytes) / static_cast<double>(reachable_bits(names_.to));
    if (random_hashes && b.set_bits >= 100 && reached < 1 - 50 / static_cast<double>(b.set_bits))
      found.push_back("the string " + key + " ends at bit " + std::to_string(8 * b.bytes) + " though " +
                      std::to_string(b.set_bits) + " bits are set: the filter seems to have fewer than " +
                      std::to_string(names_.to.how.bits) + " bits");
  }
  return found;
}

std::vector<std::string> attached_filter::missing(const std::vector<bitmap>& all) const {
  const attachment& a = names_.to;
  const bool shards = a.shape == attachment::form::sharded;
  // A shard that got no key does not exist yet. With this many keys every shard gets one.
  constexpr std::uint64_t bits_a_shard = 10'000;
  std::uint64_t set_bits = 0;
  for (const bitmap& b : all) set_bits += b.set_bits;
  std::vector<std::string> found;
  for (const bitmap& b : all) {
    if (b.bytes > 0 || (shards && !a.was_there && set_bits < bits_a_shard * all.size())) continue;
    if (all.size() > 1 && !shards)
      found.push_back(string_fault::of_missing(b.place.key, a));
    else
      found.push_back("the key " + b.place.key + (shards ? " of " + b.server : "") +
                      " does not exist, which is an empty filter to its program and to everseen" +
                      (a.was_there ? ": it was there when it was attached, so it was deleted, has expired or "
                                     "was evicted, and all that it had seen is fresh now"
                                   : ": if it did, it was deleted, has expired or was evicted"));
  }
  return found;
}

std::vector<std::string> attached_filter::lost_strings() const {
  if (!names_.to.was_there) return {};
  return missing(strings());
}

/// Callers that ask often how full the filter is must not have its servers count bits all the time.
std::vector<bitmap> attached_filter::recent_survey() const {
  using clock = std::chrono::steady_clock;
  {
    const std::scoped_lock alone(lock_);
    if (clock::now() < surveyed_.good_until) return surveyed_.all;
  }
  std::vector<bitmap> all = survey();
  std::uint64_t bytes = 0;
  for (const bitmap& b : all) bytes += b.bytes;
  constexpr std::uint64_t too_few = std::uint64_t{1} << 20;
  constexpr std::uint64_t bytes_a_second = std::uint64_t{8} << 20;
  if (bytes > too_few) {
    const std::scoped_lock alone(lock_);
    surveyed_ = {all, clock::now() + std::chrono::milliseconds(1000 * bytes / bytes_a_second)};
  }
  return all;
}

partition_state attached_filter::state(std::uint32_t /*partition*/) const {
  const std::vector<bitmap> all = recent_survey();
  const std::uint64_t bytes = (reachable_bits(names_.to) + 7) / 8;
  const auto probes = static_cast<std::uint8_t>(names_.to.how.probes);
  slice_state slice;
  for (const bitmap& b : all) {
    const auto keys = static_cast<std::uint64_t>(std::llround(estimated_keys(b.set_bits)));
    if (names_.to.shape == attachment::form::sharded && !slice.layers.empty()) {
      slice.layers.front().shape.bytes += bytes;
      slice.layers.front().keys += keys;
    } else {
      slice.layers.push_back({{layout_kind::classic, probes, bytes}, spec_.capacity, keys});
    }
  }
  return {{std::move(slice)}};
}

void attached_filter::visit_segments(std::uint32_t partition, const segment_visitor& visit) const {
  std::uint32_t number = 0;
  for (const bitmap_place& place : places_now(*pool_->take(), names_.to)) {
    std::vector<std::byte> bits;
    read_string(place, [&](std::string_view page) {
      const auto bytes = std::as_bytes(std::span(page));
      bits.insert(bits.end(), bytes.begin(), bytes.end());
    });
    const layer_state layer{
        {layout_kind::classic, static_cast<std::uint8_t>(names_.to.how.probes), bits.size()},
        spec_.capacity,
        0};
    visit({partition, window::timeless, number++}, layer, bits);
  }
}

void attached_filter::read_string(const bitmap_place& place,
                                  const std::function<void(std::string_view)>& take) const {
  const session_pool::lease with = pool_->take();
  for_each_page(*with, place, length_of(*with, names_.to, place), "GETRANGE",
                [&](const reply& page) { take(page.text()); });
}

std::vector<attached_filter::key_bits> attached_filter::bits_of(std::string_view key) const {
  const located_keys located = std::move(locate(names_.to, {&key, 1}).front());
  const session_pool::lease with = pool_->take();
  std::vector<bitmap_place> places = {located.place};
  if (names_.to.shape == attachment::form::growing) places = places_now(*with, names_.to);
  std::vector<key_bits> all;
  for (const bitmap_place& place : places) {
    key_bits bits{place.key, located.positions, {}};
    for (const std::uint64_t p : located.positions)
      bits.set.push_back(
          ask(*with, place, encode({"GETBIT", place.key, std::to_string(p)}), 1).front().integer() == 1);
    all.push_back(std::move(bits));
  }
  return all;
}

}  // namespace everseen::redis
