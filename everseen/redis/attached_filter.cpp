#include "everseen/redis/attached_filter.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "everseen/core/assert.hpp"
#include "everseen/redis/partition_task.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/replica_wait.hpp"
#include "everseen/store/unanswered.hpp"

namespace everseen::redis {

namespace {

/// Bytes that one command counts or fetches: a fraction of a millisecond.
constexpr std::uint64_t page_bytes = std::uint64_t{1} << 20;
constexpr std::size_t pages_at_once = 64;

route route_to(const bitmap_place& p) {
  return {p.key, p.instance};
}

tally tally_of(std::span<const partition_batch> batches) {
  tally sum;
  for (const partition_batch& batch : batches)
    for (const verdict v : batch.out) {
      sum.fresh += v == verdict::fresh;
      sum.seen += v == verdict::seen;
      sum.unknown += v == verdict::unknown;
    }
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

std::vector<bitmap_place> strings(session& with, const attachment& a) {
  if (a.shape != attachment::form::growing) return places_of(a, 0);
  const reply cursor = ask(with, {a.cursor, 0}, encode({"GET", a.cursor}), 1).front();
  const auto newest = cursor.is_nil() ? std::optional<std::uint64_t>(0) : cursor_number(cursor.text());
  if (!newest) throw format_error(string_fault::of_cursor(a.cursor, cursor.text()));
  return places_of(a, *newest);
}

std::uint64_t length_of(session& with, const attachment& a, const bitmap_place& place) {
  const std::int64_t bytes = ask(with, place, encode({"STRLEN", place.key}), 1).front().integer();
  if (bytes > static_cast<std::int64_t>(longest_bytes(a)))
    throw format_error(string_fault::of_length(place.key, a));
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace

std::vector<bitmap> survey(session& with, const attachment& a) {
  std::vector<bitmap> all;
  for (const bitmap_place& place : strings(with, a)) {
    bitmap b{place, to_string(with.server_of(route_to(place))), length_of(with, a, place)};
    for_each_page(with, place, b.bytes, "BITCOUNT",
                  [&](const reply& page) { b.set_bits += static_cast<std::uint64_t>(page.integer()); });
    all.push_back(std::move(b));
  }
  return all;
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
  const session_pool::lease with = pool_->take();
  std::vector<attached_task> tasks;
  for (const partition_batch& batch : batches) {
    EVERSEEN_ASSERT(batch.keys.size() == batch.out.size());
    for (located_keys& some : locate(names_.to, batch.keys))
      tasks.emplace_back(names_, what, std::move(some), batch.out, way_now(*with));
  }
  drive(*with, tasks);
  std::optional<batch_failure> failure;
  for (const attached_task& task : tasks) {
    if (!task.learned().by_script && task.learned().may_change) no_scripts_ = true;
    newest_ = task.learned().newest;
    if (!failure) failure = task.failure();
  }
  const tally done = tally_of(batches);
  if (!failure) return done;
  failure->done = done;
  return tl::unexpected(*std::move(failure));
}

/// Sends what the tasks want to know, all at once, and hands out the answers, until all are done.
void attached_filter::drive(session& with, std::vector<attached_task>& tasks) const {
  replica_wait replicas(pool_->url());
  for (;;) {
    std::vector<attached_task*> waiting;
    std::vector<bool> adding;
    std::vector<request> requests;
    for (attached_task& task : tasks) {
      if (task.done()) continue;
      adding.push_back(task.adds_next());
      waiting.push_back(&task);
      requests.push_back(task.next());
      if (adding.back()) replicas.follow(requests.back(), tasks.size());
    }
    if (waiting.empty()) return;
    std::vector<answer> answers = with.exchange(requests);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      auto lacking = adding[i] ? replicas.take_off(requests[i], answers[i]) : std::nullopt;
      if (lacking)
        waiting[i]->give_up(*std::move(lacking));
      else
        waiting[i]->take(answers[i]);
    }
  }
}

attached_task::way attached_filter::way_now(const session& with) const {
  const auto& gear = pool_->url().gear;
  const bool by_script = gear != gear_kind::bitfield && !no_scripts_;
  return {with.name(), by_script || names_.to.shape == attachment::form::growing,
          by_script && gear != gear_kind::script, newest_};
}

std::string attached_filter::way() const {
  const bool by_script = pool_->url().gear != gear_kind::bitfield && !no_scripts_;
  return by_script ? "redis, attached, script" : "redis, attached, bitfield";
}

void attached_filter::wait_with(std::shared_ptr<patience> p) {
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

double attached_filter::estimated_keys(std::uint64_t set_bits) const {
  const auto bits = static_cast<double>(reachable_bits(names_.to));
  // A string whose bits are all set holds any number of keys; one bit less is the most that tells a number.
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
  if (const auto hash = compat::doubt_about(names_.to.how); !hash.empty()) found.emplace_back(hash);
  if (names_.to.shape == attachment::form::growing)
    found.emplace_back(
        "each string of a growing filter has the whole error rate, so with every string it errs more");
  const bool random_hashes =
      names_.to.how.which == compat::family::gozero || names_.to.how.which == compat::family::guava64;
  for (const bitmap& b : all) {
    const std::string& key = b.place.key;
    if (b.bytes == 0 && names_.to.shape == attachment::form::single)
      found.push_back("the key " + key +
                      " does not exist, which is an empty filter to its program and to everseen: if it did, "
                      "it was deleted, has expired or was evicted");
    // The last of so many random bits is near the end, but for chances of one in 10^21.
    const double reached = static_cast<double>(8 * b.bytes) / static_cast<double>(reachable_bits(names_.to));
    if (random_hashes && b.set_bits >= 100 && reached < 1 - 50 / static_cast<double>(b.set_bits))
      found.push_back("the string " + key + " ends at bit " + std::to_string(8 * b.bytes) + " though " +
                      std::to_string(b.set_bits) + " bits are set: the filter seems to have fewer than " +
                      std::to_string(names_.to.how.bits) + " bits");
  }
  return found;
}

partition_state attached_filter::state(std::uint32_t /*partition*/) const {
  const std::vector<bitmap> all = survey();
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
  const session_pool::lease with = pool_->take();
  std::uint32_t number = 0;
  for (const bitmap_place& place : strings(*with, names_.to)) {
    std::vector<std::byte> bits;
    for_each_page(*with, place, length_of(*with, names_.to, place), "GETRANGE", [&](const reply& page) {
      const auto bytes = std::as_bytes(std::span(page.text()));
      bits.insert(bits.end(), bytes.begin(), bytes.end());
    });
    const layer_state layer{
        {layout_kind::classic, static_cast<std::uint8_t>(names_.to.how.probes), bits.size()},
        spec_.capacity,
        0};
    visit({partition, window::timeless, number++}, layer, bits);
  }
}

std::vector<attached_filter::key_bits> attached_filter::bits_of(std::string_view key) const {
  const located_keys located = std::move(locate(names_.to, {&key, 1}).front());
  const session_pool::lease with = pool_->take();
  std::vector<bitmap_place> places = {located.place};
  if (names_.to.shape == attachment::form::growing) places = strings(*with, names_.to);
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
