#include "module/commands/packed_commands.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/format/redis_keys.hpp"

#include "module/commands/command.hpp"
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
  if (count < 7 || count > 8) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const slice_batch keys = read_packed(words[3], words[6], count == 8 ? words[7] : nullptr);
    reply_token token(ctx, words);
    filter_key key(ctx, words[1], api::read_key | api::write_key);
    if (const auto first = token.recall()) {
      ++counters::all().repeated_batches;
      return reply_with(ctx, *first);
    }
    filter_value& filter = key.filter_or_gone();
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
  if (count < 4 || count > 5) return api::wrong_arity(ctx);
  return guarded(ctx, [&]() -> int {
    const slice_batch keys = read_packed(words[2], words[3], count == 5 ? words[4] : nullptr);
    const filter_key key(ctx, words[1], api::read_key);
    const filter_value& filter = key.filter_or_gone();
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

}  // namespace everseen::redis_module
