#include "module/packed_commands.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "everseen/core/partition_keys.hpp"

#include "module/batch.hpp"
#include "module/command.hpp"
#include "module/counters.hpp"
#include "module/slices.hpp"
#include "module/token.hpp"

namespace everseen::redis_module {

namespace {

constexpr std::chrono::milliseconds longest_life = std::chrono::hours(24 * 366);

struct question {
  api::string* state;
  std::uint64_t epoch;
  window::slice_index slice;
  std::span<const digest> digests;
  std::span<verdict> out;

  [[nodiscard]] batch keys() const { return {slice, digests, out}; }
};

/// The memory of all calls: only one runs at a time (turn).
struct scratch {
  std::vector<digest> digests;
  std::vector<verdict> verdicts;
  std::string text;
};

scratch& memory() {
  static scratch all;
  return all;
}

/// @param words  epoch, slice, and behind what else the command has, the digests
question read(api::string* state, api::string* epoch, api::string* slice, api::string* digests) {
  const std::string_view packed = text_of(digests);
  const std::size_t keys = packed.size() / sizeof(digest);
  if (packed.size() % sizeof(digest) != 0) throw bad_word{"ERR digests are 16 bytes each"};
  if (keys > most_keys) throw bad_word{"ERR more than 65536 digests in a call"};
  scratch& m = memory();
  m.digests.resize(keys);
  m.verdicts.resize(keys);
  // A word of the server lies at any address, and kernels read digests as words of 64 bits.
  if (keys > 0) std::memcpy(m.digests.data(), packed.data(), packed.size());
  return {state, number_of<std::uint64_t>(epoch, "ERR the epoch is not a number"),
          number_of<window::slice_index>(slice, "ERR the slice is not a number"), m.digests, m.verdicts};
}

/// The record, if the caller may go by it.
judged<record> look_at(api::context* ctx, const question& q, bool adding) {
  auto r = read_record(ctx, q.state);
  if (!r) return r;
  if (r->epoch != q.epoch) return refuse(refusal::kind::stale);
  if (adding && r->held_for.count() > 0)
    return tl::unexpected(refusal{.why = refusal::kind::held, .left = r->held_for});
  if (!r->spec().window && q.slice != window::timeless) throw bad_word{"ERR the filter has no window"};
  if (r->spec().window && !has_time(*r->spec().window, q.slice))
    throw bad_word{"ERR no time falls into the slice"};
  return r;
}

std::string_view write(std::span<const verdict> verdicts) {
  std::string& text = memory().text;
  text.resize(verdicts.size());
  // An iterator of its own, or each store of a char might have moved the text, and none could be a vector's.
  std::ranges::transform(verdicts, text.begin(),
                         [](verdict v) { return static_cast<char>('0' + static_cast<char>(v)); });
  return text;
}

int reply(api::context* ctx, const refusal& r) {
  using enum refusal::kind;
  ++counters::all().refusals;
  const auto say = [ctx](std::string letter, const std::string& rest = {}) {
    return reply_with(ctx, letter.append(rest));
  };
  switch (r.why) {
    case gone:
      return say("M");
    case damaged:
      return say("C", r.text);
    case stale:
      return say("S");
    case held:
      return say("L", std::to_string(r.left.count()));
    case segment:
      return say("D", std::to_string(r.id.slice).append(".").append(std::to_string(r.id.layer)));
    case old:
      return say("O");
    default:
      return api::reply_with_error(ctx, message_of(r).c_str());
  }
}

}  // namespace

int add_digests(api::context* ctx, api::string** words, int count_of_words) {
  if (count_of_words != 8) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const question q = read(words[1], words[3], words[4], words[7]);
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
    auto r = look_at(ctx, q, true);
    if (!r) return reply(ctx, r.error());
    allowance left;
    const progress done = add(ctx, q.state, *std::move(r), q.keys(), left);
    // What was added before something stopped it is answered and remembered; who asks for the rest is told
    // why.
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
    const auto r = look_at(ctx, q, false);
    if (!r) return reply(ctx, r.error());
    if (const auto refused = check(ctx, q.state, *r, q.keys())) return reply(ctx, *refused);
    counters::all().note_checked(q.out);
    return reply_with(ctx, write(q.out));
  });
}

}  // namespace everseen::redis_module
