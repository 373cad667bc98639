#include "everseen/redis/served/packed_keys.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/redis_keys.hpp"
#include "everseen/redis/served/stored_value.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

using kind = packed_answer::kind;

constexpr std::uint64_t most_offset = 255;

/// Digests are sent as they are in memory.
std::string_view packed(std::span<const digest> digests) noexcept {
  static_assert(std::endian::native == std::endian::little && sizeof(digest) == 16);
  const auto bytes = std::as_bytes(digests);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool are_verdicts(std::string_view message) noexcept {
  unsigned char highest = 0;  // no exit from the loop, so that it is vectorised
  for (const char c : message) highest = std::max(highest, static_cast<unsigned char>(c - '0'));
  return highest <= 3;
}

/// One answer of the module says that it is there; a server without the command lists nothing.
bool lacks_module(const answer& a) {
  return a && !a->front().is_error() && a->front()[0].size() == 0;
}

/// If the user may not ask, the answer says nothing about the module.
bool hides_module(const answer& a) {
  return a && is_denial(a->front());
}

std::vector<answer> ask_for_module(server_connections& connections) {
  std::vector<answer> all = connections.exchange_with_all(encode({"COMMAND", "INFO", "EVERSEEN.ADDPACKED"}));
  if (std::ranges::none_of(all, [](const answer& a) { return a.has_value(); }))
    throw backend_error(all.front().error().message);
  return all;
}

}  // namespace

window::slice_index key_divider::slice_of(std::size_t key, std::optional<window::slice_index> newest) const {
  const window::slice_index slice = window::slice_at(*window_, times_[times_.size() == 1 ? 0 : key]);
  if (!newest) return slice;
  return std::max(slice, window::oldest_live(*window_, *newest) - 1);
}

std::size_t key_divider::divide(std::size_t from, std::size_t most, packed_keys& into) {
  into.offsets.clear();
  into.slice = window::timeless;
  if (!window_) return most;
  window::slice_index lowest = slice_of(from, newest_), highest = lowest;
  const auto note = [&](window::slice_index slice) {
    if (moves_) newest_ = std::max(newest_.value_or(slice), slice);
  };
  note(lowest);
  std::size_t count = times_.size() == 1 ? most : 1;
  for (; count < most; ++count) {
    const window::slice_index slice = slice_of(from + count, newest_);
    const window::slice_index low = std::min(lowest, slice), high = std::max(highest, slice);
    if (static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) > most_offset) break;
    lowest = low, highest = high;
    note(slice);
  }
  into.slice = lowest;
  if (lowest == highest) return count;
  into.offsets.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    // A late key may be older than all that this call names. Its slice is then the lowest one or before.
    const window::slice_index slice = std::max(slice_of(from + i, {}), lowest);
    into.offsets += static_cast<char>(slice - lowest);
  }
  return count;
}

packed_commands::packed_commands(const filter_identity& f, std::string client,
                                 std::chrono::milliseconds keeps_answers)
    : filter_(&f),
      fingerprint_(fingerprint_of(f.spec)),
      client_(std::move(client)),
      keeps_answers_(keeps_answers) {}

request packed_commands::ask(const packed_keys& q) const {
  if (q.claim != nullptr) return claim(q);
  const std::string key = filter().keys.state(q.partition), slice = std::to_string(q.slice);
  const std::string meant = fingerprint(q.partition);
  const auto call = [&](std::vector<std::string_view> words, repetition repeatable) {
    words.insert(words.end(), {q.offsets, meant});
    return request{{key, q.partition}, encode(words), 1, repeatable};
  };
  if (!q.adding) return call({"EVERSEEN.CHECKPACKED", key, slice, packed(q.digests)}, true);
  const std::string token = filter().keys.token(q.partition, client_);
  const std::string life = std::to_string(keeps_answers_.count());
  return call({"EVERSEEN.ADDPACKED", key, token, slice, q.sequence, life, packed(q.digests)},
              repetition(keeps_answers_));
}

request packed_commands::claim(const packed_keys& q) const {
  lane_claim& claim = *q.claim;
  const std::string key = filter().keys.state(q.partition), slice = std::to_string(q.slice);
  const std::string records = partition_keys::lane_records(key, claim.job());
  const lane_claim::link head = claim.first_link();
  const std::string forgotten = std::to_string(head.forgotten_bytes);
  const std::string meant = fingerprint(q.partition);
  const std::string positions = claim.positions(q);
  const std::string each = std::to_string(claim.counts_per_event());
  const lane_claim::counting counts = claim.counts(q);
  std::vector<std::string_view> words = {
      "EVERSEEN.CLAIMPACKED", key,       records, claim.lane(), head.head, forgotten,    slice,
      packed(q.digests),      q.offsets, meant,   positions,    each,      counts.places};
  words.insert(words.end(), counts.names.begin(), counts.names.end());
  return {{key, q.partition}, encode(words), 1, true};
}

packed_answer packed_commands::answered(const packed_keys& q, const answer& a) const {
  const auto failed = [](std::string why) {
    return packed_answer{.failure = batch_failure{batch_failure::cause::backend, std::move(why), {}}};
  };
  if (!a) return failed(a.error().message);
  const reply& r = a->back();
  if (r.is_error("CLAIMED")) return {.outcome = kind::claimed};
  if (r.is_error("ENDED")) return {.outcome = kind::ended};
  if (const auto successor = successor_in(r)) return {.outcome = kind::sealed, .successor = successor};
  if (r.is_error()) {
    try {
      raise_refusal(filter(), q.partition, r);
    } catch (const error&) {
      return {.failure = batch_failure::from_current_exception()};
    }
  }
  std::string_view message = r.text();
  std::optional<image::filter_id> successor;
  if (image::filter_id id; !q.adding && message.size() == q.digests.size() + id.size()) {
    std::memcpy(id.data(), message.data() + q.digests.size(), id.size());
    message.remove_suffix(id.size());
    successor = id;
  }
  const bool is_whole = q.claim != nullptr ? !message.empty() && message.size() <= q.digests.size()
                                           : message.size() == q.digests.size();
  if (r.what() != reply::kind::string || !are_verdicts(message) || !is_whole)
    return failed(refused_command(
        filter().keys.state(q.partition),
        "the module answered '" + std::string(message.substr(0, 20)) + "', which are not verdicts"));
  if (q.claim != nullptr) q.claim->take(q, message);
  return {.outcome = kind::done, .verdicts = std::string(message), .successor = successor};
}

bool have_module(server_connections& connections) {
  const std::vector<answer> all = ask_for_module(connections);
  return std::ranges::none_of(all, [](const answer& a) { return lacks_module(a) || hides_module(a); });
}

void require_module(server_connections& connections) {
  if (std::ranges::none_of(ask_for_module(connections), lacks_module)) return;
  throw parameter_error(
      "a Redis server judges keys only with the everseen module, which is not on every server of the URL. "
      "Let clients judge (--judge client), load the module into every server, or run everseen serve for all "
      "clients");
}

namespace {

void append_place(std::string& out, std::uint32_t place) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(place >> shift);
}

}  // namespace

lane_claim::link lane_claim::first_link() const {
  std::string head = record_.head();
  const std::size_t bytes = head.size() + record_.settled_before(settled_) * position_bytes;
  return {std::move(head), bytes};
}

std::string lane_claim::positions(const packed_keys& q) const {
  std::string packed;
  packed.reserve(q.digests.size() * position_bytes);
  for (const std::uint64_t position : batch_.positions.subspan(q.first, q.digests.size()))
    append_position(packed, position);
  return packed;
}

lane_claim::counting lane_claim::counts(const packed_keys& q) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  counting c;
  const std::size_t each = batch_.counts.per_event;
  if (each == 0) return c;
  renumbered_.assign(batch_.counts.names.size(), none);
  c.places.reserve(q.digests.size() * each * 4);
  for (const std::uint32_t name : batch_.counts.of_event.subspan(q.first * each, q.digests.size() * each)) {
    std::uint32_t& place = renumbered_[name];
    if (place == none) {
      place = static_cast<std::uint32_t>(c.names.size());
      c.names.push_back(batch_.counts.names[name]);
    }
    append_place(c.places, place);
  }
  return c;
}

void lane_claim::take(const packed_keys& q, std::string_view verdicts) {
  const std::size_t judged = std::min(verdicts.find('3'), verdicts.size());
  if (judged == 0) return;
  record_.forget(settled_);
  for (std::size_t i = 0; i < judged; ++i) record_.note(batch_.positions[q.first + i], verdicts[i] == '0');
}

}  // namespace everseen::redis
