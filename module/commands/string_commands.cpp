#include "module/commands/string_commands.hpp"

#include <chrono>
#include <string>

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

}  // namespace everseen::redis_module
