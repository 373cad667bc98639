#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "everseen/core/commands/figures.hpp"
#include "everseen/core/commands/request.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/commands/bloom_commands.hpp"
#include "everseen/serve/own/asked_keys.hpp"
#include "everseen/serve/registry/judge_batch.hpp"
#include "everseen/serve/resp/gathered_batches.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"
#include "everseen/wire/client_protocol.hpp"

/// What everseen adds to the Bloom commands: time windows, and verdicts by name.
namespace everseen::serve {

namespace {

void reserve(call& c) {
  c.all.filters().create(c.words[1], parse_own_reserve(c.words));
  c.reply.ok();
}

std::shared_ptr<shared_filter> opened_filter(call& c) {
  auto found = c.all.filters().open(c.words[1]);
  if (!found) throw refusal{"ERR not found"};
  return found;
}

/// The verdicts in a string with a digit for each key. If some are unknown, why: an array of that string, the
/// cause, and its text.
void write_digits(const key_batch& batch, wire::reply_writer& reply) {
  std::string digits(batch.verdicts.size(), '0');
  std::ranges::transform(batch.verdicts, digits.begin(),
                         [](verdict v) { return static_cast<char>('0' + static_cast<int>(v)); });
  if (!batch.why.failure) return reply.bulk(digits);
  reply.array(3);
  reply.bulk(digits);
  reply.bulk(wire::word_of(batch.why.failure->why));
  reply.bulk(batch.why.failure->message);
}

std::shared_ptr<shared_filter> asked_filter(call& c, const asked_keys& asked) {
  auto f = opened_filter(c);
  if (!asked.fingerprint.empty() && asked.fingerprint != f->fingerprint)
    throw refusal{"GONE the filter was dropped, and another one has its name"};
  return f;
}

/// Judges the keys of a request, and writes the reply.
/// @return whether no later batch of the same client may be judged before it knows of this one's failure
bool answer(call& c, const std::shared_ptr<shared_filter>& f, const asked_keys& asked, question q,
            wire::reply_writer& reply) {
  key_batch batch{{asked.keys.begin(), asked.keys.end()}, {}, {}, false};
  const std::array<event_time, 1> clock = {service::now()};
  std::span<const event_time> times = asked.times;
  if (!times.empty() && !f->has_window()) throw refusal{std::string(commands::no_window)};
  if (times.empty() && f->has_window()) times = clock;
  f->handle.must_accept(times);
  judge(f->counted(), q, batch, times);
  if (batch.is_stale) c.all.filters().forget(f);
  if (!asked.in_digits) {
    write_verdicts(f->handle, batch, 0, batch.keys.size(), q, reply_shape::words, reply);
  } else {
    if (batch.why.thrown) std::rethrow_exception(batch.why.thrown);
    if (const auto& why = batch.why.failure;
        q == question::check && why && why->why == batch_failure::cause::backend)
      throw not_begun_as(why->message);
    write_digits(batch, reply);
  }
  return batch.why.thrown || (batch.why.failure && batch.why.failure->ends_batch());
}

/// The same for a batch of a session. Its client waits through outages by itself: it sends a batch that has
/// not begun again, and one that has begun waits here for its outcome.
/// @throws request_sessions::not_begun
request_sessions::answer answer_once(call& c, const asked_keys& asked) {
  request_sessions::answer given;
  try {
    const auto f = run_reading([&] { return asked_filter(c, asked); });
    const auto place = c.all.outages().take_place();
    if (!place) throw not_begun_as(c.all.outages().why());
    if (c.all.is_stopping()) throw request_sessions::not_begun{{std::string(being_stopped)}};
    wire::reply_writer reply(given.reply, c.from.version());
    given.ends_session = answer(c, f, asked, question::add, reply);
  } catch (const request_sessions::not_begun&) {
    throw;
  } catch (...) {
    given = {{}, true};
    wire::reply_writer(given.reply).error(text_of_current_exception());
  }
  return given;
}

void add(call& c) {
  const asked_keys asked = parse_asked_keys(c.words);
  if (asked.session.empty()) {
    answer(c, asked_filter(c, asked), asked, question::add, c.reply);
    return;
  }
  c.reply.encoded(c.all.sessions().run(asked.session, asked.number, request_sessions::clock::now(),
                                       [&] { return answer_once(c, asked); }));
}

void check(call& c) {
  const asked_keys asked = parse_asked_keys(c.words);
  if (!asked.session.empty()) throw refusal{"ERR SESSION is for keys that are added"};
  const auto answered = [&] { answer(c, asked_filter(c, asked), asked, question::check, c.reply); };
  asked.in_digits ? run_reading(answered) : answered();
}

/// Requests without options are batched.
std::optional<batched_keys> plain(word_list w, question q) {
  if (!is_word(w[2], "ITEMS")) return std::nullopt;
  return batched_keys{q, reply_shape::words, w.subspan(3)};
}

std::optional<batched_keys> plain_to_add(word_list w) {
  return plain(w, question::add);
}

std::optional<batched_keys> plain_to_check(word_list w) {
  return plain(w, question::check);
}

void write_figure(const commands::figure& one, wire::reply_writer& reply) {
  reply.bulk(one.first);
  if (const auto* const text = std::get_if<std::string>(&one.second))
    reply.bulk(*text);
  else if (const auto* const number = std::get_if<std::uint64_t>(&one.second))
    reply.integer(static_cast<std::int64_t>(*number));
  else
    reply.real(std::get<double>(one.second));
}

void everseen_info(call& c) {
  const auto f = opened_filter(c);
  const filter_info info = f->handle.info();
  const auto figures =
      commands::figures_of(info.name, info.spec, {info.keys, info.bytes, info.segments, info.error_rate_now});
  c.reply.map(figures.size());
  for (const commands::figure& each : figures) write_figure(each, c.reply);
}

}  // namespace

std::span<const command> everseen_commands() {
  static constexpr command commands[] = {
      {"EVERSEEN.ADD", -4, right::write, runs::on_worker, first_word, add, plain_to_add},
      {"EVERSEEN.CHECK", -4, right::read, runs::on_worker, first_word, check, plain_to_check},
      {"EVERSEEN.INFO", 2, right::read, runs::on_worker, first_word, everseen_info},
      {"EVERSEEN.RESERVE", -4, right::write, runs::on_worker, first_word, reserve},
  };
  return commands;
}

}  // namespace everseen::serve
