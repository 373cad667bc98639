#include "module/commands/string_commands.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/lane_record.hpp"
#include "everseen/core/format/partition_keys.hpp"

#include "module/commands/command.hpp"
#include "module/commands/packed_call.hpp"
#include "module/partition/batch.hpp"
#include "module/partition/token.hpp"
#include "module/server/counters.hpp"

namespace everseen::redis_module {

namespace {

constexpr std::chrono::milliseconds longest_life = std::chrono::hours(24 * 366);

}  // namespace

int add_digests(api::context* ctx, api::string** words, int count_of_words) {
  if (count_of_words < 8 || count_of_words > 9) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const question q = read(words[1], words[3], words[4], words[7], count_of_words == 9 ? words[8] : nullptr);
    const std::string_view sequence = text_of(words[5]);
    const auto life = number_of<std::int64_t>(words[6], "ERR the life of the token is not a number");
    if (sequence.size() != partition_keys::sequence_bytes) throw bad_word{"ERR a sequence has 20 digits"};
    if (life < 1) throw bad_word{"ERR the life of the token is too short"};
    if (life > longest_life.count()) throw bad_word{"ERR the life of the token is longer than a year"};
    if (!text_of(words[2]).starts_with(partition_keys::token(std::string(text_of(words[1])), "")))
      throw bad_word{"ERR the token is not named as one of the state's"};
    const token memory_of_client(ctx, words[2], sequence, std::chrono::milliseconds(life));
    const auto before = memory_of_client.recall();
    if (!before) return reply(ctx, before.error());
    if (*before) {
      ++counters::all().repeated_batches;
      return reply_with(ctx, **before);
    }
    auto r = look_at(ctx, q);
    if (!r) return reply(ctx, r.error());
    allowance left(ctx);
    const progress done = add(ctx, q.state, *std::move(r), q.keys(), left);
    // Keys added before a refusal are answered and remembered. The refusal is the reply to the next call, for
    // the rest.
    if (done.keys == 0 && done.stopped_by && !done.stopped_by->asks_for_more())
      return reply(ctx, *done.stopped_by);
    const auto verdicts = q.out.first(done.keys);
    counters::all().note_added(verdicts);
    const std::string_view text = write(verdicts);
    memory_of_client.remember(text);
    return reply_with(ctx, text);
  });
}

int check_digests(api::context* ctx, api::string** words, int count_of_words) {
  if (count_of_words != 5) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const question q = read(words[1], words[2], words[3], words[4]);
    const auto r = look_at(ctx, q);
    if (!r) return reply(ctx, r.error());
    if (const auto refused = check(ctx, q.state, *r, q.keys())) return reply(ctx, *refused);
    counters::all().note_checked(q.out);
    return reply_with(ctx, write(q.out));
  });
}

namespace {

constexpr int first_name = 14;
constexpr std::size_t place_bytes = 4;

std::uint32_t place_in(std::string_view bytes) noexcept {
  std::uint32_t place = 0;
  for (std::size_t i = 0; i < place_bytes; ++i) place = place << 8 | static_cast<unsigned char>(bytes[i]);
  return place;
}

/// The arguments of a claim besides its digests.
struct claim {
  api::string* records;
  api::string* lane;
  std::string_view job;
  std::string_view head;
  std::size_t forgotten_bytes;
  std::string_view positions;
  std::size_t counters_an_event;
  std::string_view places;
  std::span<api::string*> names;
};

/// @throws bad_word
claim read_claim(api::string** words, int count, std::size_t events) {
  const claim c = {words[2],
                   words[4],
                   text_of(words[3]),
                   text_of(words[5]),
                   number_of<std::size_t>(words[6], "ERR the forgotten bytes are not a number"),
                   text_of(words[11]),
                   number_of<std::size_t>(words[12], "ERR the counters of an event are not a number"),
                   text_of(words[13]),
                   {words + first_name, static_cast<std::size_t>(count - first_name)}};
  const std::string state(text_of(words[1]));
  if (text_of(c.records) != partition_keys::lane_records(state, c.job))
    throw bad_word{"ERR the records are not named as those of the job are"};
  if (!c.head.empty() && c.head.size() != position_bytes) throw bad_word{"ERR a head is 8 bytes, or none"};
  if (c.positions.size() != events * position_bytes) throw bad_word{"ERR positions are 8 bytes an event"};
  std::string_view before = c.head;
  for (std::size_t i = 0; i < events; ++i) {
    const std::string_view position = c.positions.substr(i * position_bytes, position_bytes);
    if (!before.empty() && position <= before) throw bad_word{"ERR positions do not ascend"};
    before = position;
  }
  if (c.counters_an_event > c.places.size() || c.places.size() != events * c.counters_an_event * place_bytes)
    throw bad_word{"ERR places are 4 bytes for each counter of an event"};
  for (std::size_t at = 0; at < c.places.size(); at += place_bytes)
    if (place_in(c.places.substr(at)) >= c.names.size()) throw bad_word{"ERR a place is beyond the names"};
  return c;
}

/// The content of the lane's record.
judged<std::string> read_lane(api::context* ctx, const claim& c) {
  const open_key records(ctx, c.records, api::read_key);
  if (records.type() == api::type_empty) return std::string();
  if (records.type() != api::type_hash) return refuse(refusal::kind::wrong_type);
  api::string* text = nullptr;
  api::hash_get(records.get(), 0, c.lane, &text, nullptr);
  return std::string(value(ctx, text).text());
}

/// Whether the job may claim in this partition.
bool is_allowed(api::context* ctx, api::string* state, const value& field) {
  const open_key key(ctx, state, api::read_key);
  api::string* found = nullptr;
  api::hash_get(key.get(), 0, field.get(), &found, nullptr);
  return value(ctx, found).exists();
}

/// Also writes when a repeated call only recovers its lost answer, without changing anything: a WAIT after it
/// then waits for the writes of the first attempt.
int reply_claimed(api::context* ctx, const question& q, const value& field, const std::string& record) {
  if (!record.empty()) const called written(api::call(ctx, "HSET", "!ssc", q.state, field.get(), "1"));
  return reply_with(ctx, "P");
}

/// Per name, how many of the events from `from` to `to` that have it were fresh, including 0 (see
/// served_scripts.cpp). -1: no event has the name.
std::span<const long long> raises(const question& q, const claim& c, std::size_t from, std::size_t to) {
  static std::vector<long long> by;
  by.assign(c.names.size(), -1);
  const std::size_t bytes = c.counters_an_event * place_bytes;
  for (std::size_t i = from; i < to; ++i)
    for (std::size_t at = i * bytes; at < (i + 1) * bytes; at += place_bytes) {
      long long& sum = by[place_in(c.places.substr(at))];
      sum = std::max(sum, 0LL) + (q.out[i] == verdict::fresh ? 1 : 0);
    }
  return by;
}

/// The value of a counter; nothing if it was overwritten with something else.
std::optional<long long> sum_in(const open_key& records, api::string* field, api::context* ctx) {
  api::string* found = nullptr;
  if (records.type() == api::type_hash) api::hash_get(records.get(), 0, field, &found, nullptr);
  const value text(ctx, found);
  if (!text.exists()) return 0;
  long long sum = 0;
  const char* const end = text.text().data() + text.text().size();
  const auto read = std::from_chars(text.text().data(), end, sum);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(sum) : std::nullopt;
}

/// Records the verdicts in one command, before any bit is replicated; see served_scripts.cpp.
class lane_writer {
 public:
  lane_writer(api::context* ctx, const question& q, const claim& c, const std::string& before)
      : ctx_(ctx), q_(q), c_(c), kept_(before.substr(c.forgotten_bytes)) {}

  /// Records the first `keys` events, up to the first one without room.
  void take_down(std::size_t keys) {
    const auto all = q_.out.first(keys);
    const auto judged = static_cast<std::size_t>(std::ranges::find(all, verdict::unknown) - all.begin());
    if (judged <= written_) return;
    for (std::size_t i = written_; i < judged; ++i)
      if (q_.out[i] == verdict::fresh) kept_ += c_.positions.substr(i * position_bytes, position_bytes);
    write(raises(q_, c_, written_, judged), judged);
    written_ = judged;
  }
  [[nodiscard]] std::size_t written() const noexcept { return written_; }

 private:
  void write(std::span<const long long> by, std::size_t judged) {
    std::vector<value> made;
    std::vector<api::string*> words = {c_.records, c_.lane};
    made.reserve(1 + 2 * by.size());
    const auto add = [&](std::string_view text) {
      words.push_back(made.emplace_back(ctx_, text).get());
      return words.back();
    };
    add(std::string(c_.positions.substr((judged - 1) * position_bytes, position_bytes)) + kept_);
    {
      const open_key records(ctx_, c_.records, api::read_key);
      for (std::size_t i = 0; i < by.size(); ++i) {
        if (by[i] < 0) continue;
        value field(ctx_, partition_keys::counter_field(text_of(c_.names[i])));
        const auto sum = sum_in(records, field.get(), ctx_);
        if (!sum) continue;
        words.push_back(made.emplace_back(std::move(field)).get());
        add(std::to_string(*sum + by[i]));
      }
    }
    const called done(api::call(ctx_, "HSET", "!v", words.data(), words.size()));
  }

  api::context* ctx_;
  const question& q_;
  const claim& c_;
  std::string kept_;
  std::size_t written_ = 0;
};

}  // namespace

int claim_events(api::context* ctx, api::string** words, int count) {
  if (count < first_name) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const question q = read(words[1], words[7], words[8], words[9], words[10]);
    const claim c = read_claim(words, count, q.digests.size());
    auto r = look_at(ctx, q);
    if (!r) return reply(ctx, r.error());
    const value field(ctx, partition_keys::job_field(c.job));
    if (!is_allowed(ctx, q.state, field)) return reply(ctx, {.why = refusal::kind::ended});
    const auto before = read_lane(ctx, c);
    if (!before) return reply(ctx, before.error());
    if (std::string_view(*before).substr(0, position_bytes) != c.head)
      return reply_claimed(ctx, q, field, *before);
    if (c.forgotten_bytes < c.head.size() || c.forgotten_bytes > before->size() ||
        c.forgotten_bytes % position_bytes != 0)
      throw bad_word{"ERR the forgotten bytes are not the head and some positions of the record"};
    allowance left(ctx);
    lane_writer lane(ctx, q, c, *before);
    const progress done =
        add(ctx, q.state, *std::move(r), q.keys(), left, [&](std::size_t keys) { lane.take_down(keys); });
    if (done.keys == 0 && done.stopped_by && !done.stopped_by->asks_for_more())
      return reply(ctx, *done.stopped_by);
    // A full partition has added nothing after the first key without room, but has looked up all keys.
    lane.take_down(done.keys);
    const auto all = q.out.first(done.keys);
    const std::size_t judged = lane.written();
    if (judged > 0) counters::all().note_added(all.first(judged));
    return reply_with(ctx, write(all.first(std::min(judged + 1, all.size()))));
  });
}

}  // namespace everseen::redis_module
