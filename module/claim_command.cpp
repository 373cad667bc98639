#include "module/claim_command.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/lane_record.hpp"
#include "everseen/core/partition_keys.hpp"

#include "module/batch.hpp"
#include "module/command.hpp"
#include "module/counters.hpp"
#include "module/packed_call.hpp"

namespace everseen::redis_module {

namespace {

constexpr int first_name = 15;
constexpr std::size_t place_bytes = 4;

std::uint32_t place_in(std::string_view bytes) noexcept {
  std::uint32_t place = 0;
  for (std::size_t i = 0; i < place_bytes; ++i) place = place << 8 | static_cast<unsigned char>(bytes[i]);
  return place;
}

/// The words of a claim beside its digests.
struct claim {
  api::string* records;
  api::string* counters;
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
  const claim c = {
      words[2],           words[3],
      words[5],           text_of(words[4]),
      text_of(words[6]),  number_of<std::size_t>(words[7], "ERR the forgotten bytes are not a number"),
      text_of(words[12]), number_of<std::size_t>(words[13], "ERR the counters of an event are not a number"),
      text_of(words[14]), {words + first_name, static_cast<std::size_t>(count - first_name)}};
  const std::string state(text_of(words[1]));
  if (text_of(c.records) != partition_keys::lane_records(state, c.job))
    throw bad_word{"ERR the records are not named as those of the job are"};
  if (text_of(c.counters) != partition_keys::counters(state, c.job))
    throw bad_word{"ERR the counters are not named as those of the job are"};
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

/// What the lane's record holds.
judged<std::string> read_lane(api::context* ctx, const claim& c) {
  const open_key counters(ctx, c.counters, api::read_key);
  if (counters.type() != api::type_empty && counters.type() != api::type_hash)
    return refuse(refusal::kind::wrong_type);
  const open_key records(ctx, c.records, api::read_key);
  if (records.type() == api::type_empty) return std::string();
  if (records.type() != api::type_hash) return refuse(refusal::kind::wrong_type);
  api::string* text = nullptr;
  api::hash_get(records.get(), 0, c.lane, &text, nullptr);
  return std::string(value(ctx, text).text());
}

void name_job(api::context* ctx, const question& q, const claim& c) {
  const std::string field = std::string(partition_keys::job_field) + std::string(c.job);
  const called named(api::call(ctx, "HSET", "!scc", q.state, field.c_str(), "1"));
}

/// Where an answer was lost and the call is made again, it writes, too, and changes nothing: so a WAIT behind
/// it waits for what the first attempt wrote.
int reply_claimed(api::context* ctx, const question& q, const claim& c, const std::string& record) {
  if (!record.empty()) name_job(ctx, q, c);
  return reply_with(ctx, "P");
}

void write_lane(api::context* ctx, const question& q, const claim& c, std::string_view before,
                std::size_t judged) {
  std::string after(c.positions.substr((judged - 1) * position_bytes, position_bytes));
  after += before.substr(c.forgotten_bytes);
  for (std::size_t i = 0; i < judged; ++i)
    if (q.out[i] == verdict::fresh) after += c.positions.substr(i * position_bytes, position_bytes);
  const called done(api::call(ctx, "HSET", "!ssb", c.records, c.lane, after.data(), after.size()));
  if (before.empty()) name_job(ctx, q, c);
}

void raise_counters(api::context* ctx, const question& q, const claim& c, std::size_t judged) {
  static std::vector<long long> sums;
  sums.assign(c.names.size(), 0);
  const std::size_t bytes = c.counters_an_event * place_bytes;
  for (std::size_t i = 0; i < judged; ++i)
    for (std::size_t at = i * bytes; q.out[i] == verdict::fresh && at < (i + 1) * bytes; at += place_bytes)
      ++sums[place_in(c.places.substr(at))];
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] > 0) const called done(api::call(ctx, "HINCRBY", "!ssl", c.counters, c.names[i], sums[i]));
}

void let_end(api::context* ctx, const claim& c, const std::string& ends_at) {
  if (ends_at.empty()) return;
  for (api::string* key : {c.records, c.counters})
    const called done(api::call(ctx, "PEXPIREAT", "!sc", key, ends_at.c_str()));
}

}  // namespace

int claim_events(api::context* ctx, api::string** words, int count) {
  if (count < first_name) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const question q = read(words[1], words[8], words[9], words[10], words[11]);
    const claim c = read_claim(words, count, q.digests.size());
    auto r = look_at(ctx, q, true);
    if (!r) return reply(ctx, r.error());
    const std::string ends_at = r->ends_at;
    const auto before = read_lane(ctx, c);
    if (!before) return reply(ctx, before.error());
    if (std::string_view(*before).substr(0, position_bytes) != c.head)
      return reply_claimed(ctx, q, c, *before);
    if (c.forgotten_bytes < c.head.size() || c.forgotten_bytes > before->size() ||
        c.forgotten_bytes % position_bytes != 0)
      throw bad_word{"ERR the forgotten bytes are not the head and some positions of the record"};
    allowance left(ctx);
    const progress done = add(ctx, q.state, *std::move(r), q.keys(), left);
    if (done.keys == 0 && done.stopped_by && !done.stopped_by->asks_for_more())
      return reply(ctx, *done.stopped_by);
    // A full partition has added nothing behind the first key without room, but has looked up all of them.
    const auto all = q.out.first(done.keys);
    const auto judged = static_cast<std::size_t>(std::ranges::find(all, verdict::unknown) - all.begin());
    if (judged > 0) {
      write_lane(ctx, q, c, *before, judged);
      raise_counters(ctx, q, c, judged);
      let_end(ctx, c, ends_at);
      counters::all().note_added(all.first(judged));
    }
    return reply_with(ctx, write(all.first(std::min(judged + 1, all.size()))));
  });
}

}  // namespace everseen::redis_module
