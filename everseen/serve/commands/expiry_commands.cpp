#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/service/service.hpp"

/// When filters expire. Clients give times by this server's clock; the store keeps them.
namespace everseen::serve {

namespace {

/// Asks the store, as another client may have changed the expiry.
/// @return nothing  there is no such filter
struct known_expiry {
  std::optional<event_time> when;  ///< nothing: never
};
std::optional<known_expiry> expiry_of(call& c) {
  for (;;) try {
      const auto f = c.all.filters().peek(c.words[1]);
      if (!f) return std::nullopt;
      return known_expiry{c.all.filters().facts_of(*f).expires_at};
    } catch (const no_filter& why) {  // it was created again elsewhere, or has just expired
      if (!c.all.filters().forget_changed(c.words[1], why)) return std::nullopt;
    }
}

constexpr std::int64_t no_key = -2;
constexpr std::int64_t no_expiry = -1;

/// @param unit_ms  of the reply, rounded to the nearest
void tell_rest(call& c, std::int64_t unit_ms) {
  const auto end = expiry_of(c);
  if (!end || !end->when) return c.reply.integer(end ? no_expiry : no_key);
  const std::int64_t left = std::max<std::int64_t>(0, (*end->when - service::now()).count());
  c.reply.integer((left + unit_ms / 2) / unit_ms);
}

void tell_moment(call& c, std::int64_t unit_ms) {
  const auto end = expiry_of(c);
  if (!end || !end->when) return c.reply.integer(end ? no_expiry : no_key);
  c.reply.integer((end->when->time_since_epoch().count() + unit_ms / 2) / unit_ms);
}

void pttl(call& c) {
  tell_rest(c, 1);
}
void ttl(call& c) {
  tell_rest(c, 1000);
}
void pexpiretime(call& c) {
  tell_moment(c, 1);
}
void expiretime(call& c) {
  tell_moment(c, 1000);
}

/// NX, XX, GT and LT. As in Redis, a filter without expiry counts as infinitely late.
bool is_wanted(word_list options, std::optional<event_time> current, event_time next) {
  bool nx = false, xx = false, gt = false, lt = false;
  for (const std::string_view word : options) {
    nx = nx || is_word(word, "NX");
    xx = xx || is_word(word, "XX");
    gt = gt || is_word(word, "GT");
    lt = lt || is_word(word, "LT");
    if (!is_word(word, "NX") && !is_word(word, "XX") && !is_word(word, "GT") && !is_word(word, "LT"))
      throw refusal{"ERR Unsupported option " + std::string(word.substr(0, 64))};
  }
  if (nx && (xx || gt || lt))
    throw refusal{"ERR NX and XX, GT or LT options at the same time are not compatible"};
  if (gt && lt) throw refusal{"ERR GT and LT options at the same time are not compatible"};
  if ((nx && current) || (xx && !current)) return false;
  if (gt && (!current || next <= *current)) return false;
  return !lt || !current || next < *current;
}

/// @param from  the time from which the client's number counts
void expire_at(call& c, std::int64_t unit_ms, event_time from) {
  const auto time = read_integer(c.words[2]);
  constexpr std::int64_t most = INT64_MAX / 4;
  if (!time) throw refusal{"ERR value is not an integer or out of range"};
  if (*time > most / unit_ms || *time < -most / unit_ms)
    throw refusal{"ERR invalid expire time in '" + lower(c.called.name) + "' command"};
  const event_time when = from + std::chrono::milliseconds(*time * unit_ms);
  (void)is_wanted(c.words.subspan(3), std::nullopt,
                  when);  // errors are reported even if there is no key
  auto f = c.all.filters().open(c.words[1]);
  if (!f || !is_wanted(c.words.subspan(3), c.all.filters().facts_of(*f).expires_at, when))
    return c.reply.integer(0);
  if (when > service::now()) {
    c.all.filters().expire_at(*f, when);
  } else {
    f.reset();
    c.all.drop(c.words[1]);
  }
  c.reply.integer(1);
}

void expire(call& c) {
  expire_at(c, 1000, service::now());
}
void pexpire(call& c) {
  expire_at(c, 1, service::now());
}
void expireat(call& c) {
  expire_at(c, 1000, event_time{});
}
void pexpireat(call& c) {
  expire_at(c, 1, event_time{});
}

void persist(call& c) {
  const auto f = c.all.filters().open(c.words[1]);
  const bool had_one = f && c.all.filters().facts_of(*f).expires_at;
  if (had_one) c.all.filters().expire_at(*f, std::nullopt);
  c.reply.integer(had_one ? 1 : 0);
}

}  // namespace

std::span<const command> expiry_commands() {
  static constexpr command commands[] = {
      {"EXPIRE", -3, right::write, runs::on_worker, first_word, expire},
      {"EXPIREAT", -3, right::write, runs::on_worker, first_word, expireat},
      {"EXPIRETIME", 2, right::read, runs::on_worker, first_word, expiretime},
      {"PERSIST", 2, right::write, runs::on_worker, first_word, persist},
      {"PEXPIRE", -3, right::write, runs::on_worker, first_word, pexpire},
      {"PEXPIREAT", -3, right::write, runs::on_worker, first_word, pexpireat},
      {"PEXPIRETIME", 2, right::read, runs::on_worker, first_word, pexpiretime},
      {"PTTL", 2, right::read, runs::on_worker, first_word, pttl},
      {"TTL", 2, right::read, runs::on_worker, first_word, ttl},
  };
  return commands;
}

}  // namespace everseen::serve
