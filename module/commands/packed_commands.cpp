#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/format/lane_record.hpp"
#include "everseen/core/format/redis_keys.hpp"

#include "module/commands/command.hpp"
#include "module/commands/command_table.hpp"
#include "module/commands/filter_key.hpp"
#include "module/commands/packed_batch.hpp"
#include "module/server/counters.hpp"

namespace everseen::redis_module {

namespace {

constexpr std::chrono::milliseconds a_year = std::chrono::hours(24 * 366);

/// A client's last batch and its reply: the sequence number, then the reply.
class reply_token {
 public:
  /// @throws bad_word  an argument is invalid, or the key holds something else
  reply_token(api::context* ctx, api::string** words)
      : ctx_(ctx),
        name_(words[2]),
        sequence_(text_of(words[4])),
        life_ms_(number_of<std::int64_t>(words[5], "ERR the life of the token is not a number")) {
    if (sequence_.size() != partition_keys::sequence_bytes) throw bad_word{"ERR a sequence has 20 digits"};
    if (sequence_.find_first_not_of("0123456789") != std::string_view::npos)
      throw bad_word{"ERR a sequence has 20 digits"};
    if (life_ms_ < 1) throw bad_word{"ERR the life of the token is too short"};
    if (life_ms_ > a_year.count()) throw bad_word{"ERR the life of the token is longer than a year"};
    if (!text_of(name_).starts_with(partition_keys::token(std::string(text_of(words[1])), "")))
      throw bad_word{"ERR the token is not named as one of the key's"};
  }

  /// The first reply to this batch, which is kept for another life; nothing if there was none.
  /// @throws refused_reply  OLD: a later batch was answered
  [[nodiscard]] std::optional<std::string_view> recall() {
    key_.emplace(ctx_, name_, api::read_key | api::write_key);
    if (key_->type() == api::type_empty) return {};
    if (key_->type() != api::type_string) throw bad_word{api::wrong_type};
    const std::string_view all(key_->bytes(api::read_key), key_->length());
    const std::string_view last = all.substr(0, sequence_.size());
    if (last > sequence_) throw refused_reply{"OLD a later batch of this client was answered"};
    if (last < sequence_) return {};
    // Also a write, so that a WAIT after the call waits for the writes of the first attempt.
    api::set_expiry(key_->get(), life_ms_);
    api::replicate(ctx_, "PEXPIRE", "sl", name_, life_ms_);
    return all.substr(sequence_.size());
  }

  /// @pre recall() found nothing
  void remember(std::string_view reply) {
    const value kept(ctx_, std::string(sequence_).append(reply));
    api::set_string(key_->get(), kept.get());
    api::set_expiry(key_->get(), life_ms_);
  }

  /// What a batch that only looked up comes to: its reply, which is shorter than its digests.
  void replicate() const {
    const std::string life = std::to_string(life_ms_);
    const std::string_view all(key_->bytes(api::read_key), key_->length());
    api::replicate(ctx_, "SET", "sbcc", name_, all.data(), all.size(), "PX", life.c_str());
  }

 private:
  api::context* ctx_;
  api::string* name_;
  std::string_view sequence_;
  long long life_ms_;
  std::optional<open_key> key_{};
};

}  // namespace

int add_packed(api::context* ctx, api::string** words, int count) {
  if (count < 7 || count > 9) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const slice_batch keys = read_packed(words[3], words[6], count > 7 ? words[7] : nullptr);
    reply_token token(ctx, words);
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    if (const auto first = token.recall()) {
      ++counters::all().repeated_batches;
      return reply_with(ctx, *first);
    }
    filter_value& filter = key.filter_or_gone();
    must_be(filter, count > 8 ? words[8] : nullptr);
    must_accept(filter);
    must_fit_window(ctx, filter.get_spec(), keys);
    prepare(ctx, filter, keys);
    const bool has_changed = filter.add(keys);
    counters::all().note_added(keys.out);
    const std::string_view reply = packed(keys.out);
    token.remember(reply);
    has_changed ? (void)api::replicate_verbatim(ctx) : token.replicate();
    reply_with(ctx, reply);
    key.end(ctx, has_changed ? "everseen.add" : nullptr);
    return api::ok;
  });
}

int check_packed(api::context* ctx, api::string** words, int count) {
  if (count < 4 || count > 6) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const slice_batch keys = read_packed(words[2], words[3], count > 4 ? words[4] : nullptr);
    const filter_key key(ctx, words[1], api::read_key);
    const filter_value& filter = key.filter_or_gone();
    must_be(filter, count > 5 ? words[5] : nullptr);
    must_fit_window(ctx, filter.get_spec(), keys);
    filter.check(keys);
    counters::all().note_checked(keys.out);
    if (!filter.successor()) return reply_with(ctx, packed(keys.out));
    // A client learns from any of its calls that the keys of others go elsewhere.
    std::string reply(packed(keys.out));
    reply.append(reinterpret_cast<const char*>(filter.successor()->data()), filter.successor()->size());
    return reply_with(ctx, reply);
  });
}

namespace {

constexpr int first_counter_name = 13;
constexpr std::size_t bytes_per_place = 4;

std::uint32_t place_at(std::string_view bytes) noexcept {
  std::uint32_t place = 0;
  for (std::size_t i = 0; i < bytes_per_place; ++i) place = place << 8 | static_cast<unsigned char>(bytes[i]);
  return place;
}

/// What a claim says about its events besides their digests.
struct claimed_events {
  std::string_view head;
  std::size_t forgotten_bytes;
  std::string_view positions;
  std::size_t counters_each;
  std::string_view places;
  std::span<api::string*> names;

  [[nodiscard]] std::string_view position(std::size_t event) const noexcept {
    return positions.substr(event * position_bytes, position_bytes);
  }
};

/// @throws bad_word
claimed_events read_events(api::string** words, int count, std::size_t events) {
  const claimed_events c = {
      text_of(words[4]),  number_of<std::size_t>(words[5], "ERR the forgotten bytes are not a number"),
      text_of(words[10]), number_of<std::size_t>(words[11], "ERR the counters of an event are not a number"),
      text_of(words[12]), {words + first_counter_name, static_cast<std::size_t>(count - first_counter_name)}};
  const std::string_view lane = text_of(words[3]);
  if (lane.empty() || partition_keys::is_counter_field(lane))
    throw bad_word{"ERR a lane has a name that does not begin with a zero byte"};
  if (!c.head.empty() && c.head.size() != position_bytes) throw bad_word{"ERR a head is 8 bytes, or none"};
  if (c.positions.size() != events * position_bytes) throw bad_word{"ERR positions are 8 bytes an event"};
  std::string_view before = c.head;
  for (std::size_t i = 0; i < events; ++i) {
    if (!before.empty() && c.position(i) <= before) throw bad_word{"ERR positions do not ascend"};
    before = c.position(i);
  }
  if (c.counters_each > c.places.size() || c.places.size() != events * c.counters_each * bytes_per_place)
    throw bad_word{"ERR places are 4 bytes for each counter of an event"};
  for (std::size_t position = 0; position < c.places.size(); position += bytes_per_place)
    if (place_at(c.places.substr(position)) >= c.names.size())
      throw bad_word{"ERR a place is beyond the names"};
  return c;
}

/// The hash of a job's records in one partition.
class job_records {
 public:
  /// @throws bad_word  the key is not named as a hash of records, or holds something else
  /// @throws refused_reply  ENDED: the job has no mark here
  job_records(api::context* ctx, api::string* value_key, api::string* name)
      : ctx_(ctx), name_(name), key_(ctx, name, api::read_key | api::write_key) {
    if (!text_of(name).starts_with(partition_keys::lane_records(std::string(text_of(value_key)), "")))
      throw bad_word{"ERR the records are not named as those of a job are"};
    if (key_.type() != api::type_empty && key_.type() != api::type_hash) throw bad_word{api::wrong_type};
    if (!get(value(ctx, std::string_view()).get())) throw refused_reply{"ENDED the job has ended"};
  }

  [[nodiscard]] std::optional<std::string> get(api::string* field) const {
    if (key_.type() != api::type_hash) return {};
    api::string* found = nullptr;
    api::hash_get(key_.get(), 0, field, &found, nullptr);
    const value text(ctx_, found);
    return text.exists() ? std::optional(std::string(text.text())) : std::nullopt;
  }
  void set(api::string* field, const std::string& text) {
    const value stored(ctx_, text);
    api::hash_set(key_.get(), 0, field, stored.get(), nullptr);
  }
  /// Writes the mark again on replicas and in the AOF: a WAIT after the call then waits for what an earlier
  /// attempt wrote.
  void touch() const { api::replicate(ctx_, "HSET", "scc", name_, "", "1"); }

 private:
  api::context* ctx_;
  api::string* name_;
  open_key key_;
};

/// Per name, how many of the first `judged` events that have it were fresh, including 0; -1: no event has it.
std::vector<long long> increments(const claimed_events& c, std::span<const verdict> verdicts) {
  std::vector<long long> sums(c.names.size(), -1);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    for (std::size_t k = 0; k < c.counters_each; ++k) {
      long long& sum = sums[place_at(c.places.substr((i * c.counters_each + k) * bytes_per_place))];
      sum = std::max(sum, 0LL) + (verdicts[i] == verdict::fresh ? 1 : 0);
    }
  return sums;
}

/// Counters that were overwritten with something else stay as they are.
void count(api::context* ctx, job_records& records, const claimed_events& c,
           std::span<const verdict> verdicts) {
  const std::vector<long long> sums = increments(c, verdicts);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] < 0) continue;
    const value field(ctx, partition_keys::counter_field(text_of(c.names[i])));
    const std::optional<std::string> before = records.get(field.get());
    const auto sum = before ? read_number<long long>(*before) : 0;
    long long after = 0;
    if (sum && !__builtin_add_overflow(*sum, sums[i], &after))
      records.set(field.get(), std::to_string(after));
  }
}

/// The record of the lane: the last position judged, then those of fresh events that are not settled.
std::string record_after(const std::string& before, const claimed_events& c,
                         std::span<const verdict> verdicts) {
  std::string record(c.position(verdicts.size() - 1));
  record.append(before, c.forgotten_bytes);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (verdicts[i] == verdict::fresh) record += c.position(i);
  return record;
}

}  // namespace

int claim_packed(api::context* ctx, api::string** words, int count_of_words) {
  if (count_of_words < first_counter_name) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const slice_batch keys = read_packed(words[6], words[7], words[8]);
    const claimed_events c = read_events(words, count_of_words, keys.digests.size());
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    filter_value& filter = key.filter_or_gone();
    must_be(filter, words[9]);
    job_records records(ctx, words[1], words[2]);
    const std::string before = records.get(words[3]).value_or("");
    if (std::string_view(before).substr(0, position_bytes) != c.head) {
      if (!before.empty()) records.touch();
      throw refused_reply{"CLAIMED the record of the lane has another head"};
    }
    must_accept(filter);
    must_fit_window(ctx, filter.get_spec(), keys);
    if (c.forgotten_bytes < c.head.size() || c.forgotten_bytes > before.size() ||
        c.forgotten_bytes % position_bytes != 0)
      throw bad_word{"ERR the forgotten bytes are not the head and some positions of the record"};
    prepare(ctx, filter, keys);
    bool has_changed = filter.add(keys, filter_value::no_room::ends);
    const auto full = std::ranges::find(keys.out, verdict::unknown);
    const auto judged = std::span(keys.out).first(static_cast<std::size_t>(full - keys.out.begin()));
    if (!judged.empty()) {
      records.set(words[3], record_after(before, c, judged));
      count(ctx, records, c, judged);
      has_changed = true;
    }
    if (has_changed) api::replicate_verbatim(ctx);
    counters::all().note_added(judged);
    reply_with(ctx, packed(std::span(keys.out).first(judged.size() + (full == keys.out.end() ? 0 : 1))));
    key.end(ctx, has_changed ? "everseen.claim" : nullptr);
    return api::ok;
  });
}

}  // namespace everseen::redis_module
