#include <chrono>
#include <memory>
#include <string>

#include "everseen/server/base/command.hpp"
#include "everseen/server/base/numbers.hpp"
#include "everseen/server/commands/bloom_requests.hpp"
#include "everseen/server/registry/refusals.hpp"
#include "everseen/server/resp/gathered_batches.hpp"
#include "everseen/server/resp/session.hpp"
#include "everseen/server/service/service.hpp"

/// What everseen adds to the Bloom commands: time windows, and verdicts by name.
namespace everseen::server {

namespace {

/// The words after a command's fixed ones, read from left to right.
class option_reader {
 public:
  option_reader(word_list all, std::size_t from) : words_(all), at_(from) {}

  [[nodiscard]] bool is_at_end() const noexcept { return at_ == words_.size(); }
  /// Whether the next word is this one; if so, consumes it.
  [[nodiscard]] bool takes(std::string_view capitals) noexcept {
    if (is_at_end() || !is_word(words_[at_], capitals)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] std::string_view value() {
    if (is_at_end()) throw syntax_error();
    return words_[at_++];
  }
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) {
    const std::string_view word = value();
    const auto number = read_integer(word);
    if (!number || *number < least || *number > most)
      throw refusal{"ERR '" + std::string(word.substr(0, 64)) + "' is not a whole number from " +
                    std::to_string(least) + " to " + std::to_string(most)};
    return *number;
  }
  [[nodiscard]] word_list rest() const noexcept { return words_.subspan(at_); }

 private:
  word_list words_;
  std::size_t at_;
};

constexpr std::int64_t longest_ms = std::int64_t{36'500} * 24 * 60 * 60 * 1000;

void reserve(call& c) {
  filter_registry::request r = parse_reserve(c.words.first(4));
  option_reader options(c.words, 4);
  std::optional<std::int64_t> window;
  std::optional<std::int64_t> slices;
  while (!options.is_at_end()) {
    if (options.takes("WINDOW"))
      window = options.integer(1, longest_ms);
    else if (options.takes("SLICES"))
      slices = options.integer(1, max_slices);
    else if (options.takes("NONSCALING"))
      r.spec.growth = growth_kind::refuse;
    else if (!r.hash && options.takes("SIPHASH"))
      r.hash = hash_kind::siphash;
    else if (!r.hash && options.takes("XXH3"))
      r.hash = hash_kind::xxh3;
    else if (options.takes("PX"))
      r.life = std::chrono::milliseconds(options.integer(1, longest_ms));
    else
      throw syntax_error();
  }
  if (slices && !window) throw refusal{"ERR SLICES is for a filter with a WINDOW"};
  if (window)
    r.spec.window = window_spec{std::chrono::milliseconds(*window),
                                static_cast<std::uint32_t>(slices.value_or(default_slices))};
  c.all.filters().create(c.words[1], r);
  c.reply.ok();
}

/// EVERSEEN.ADD key [TIME ms] ITEMS item...
struct timed_keys {
  std::optional<event_time> when{};
  word_list keys{};
};

timed_keys parse_timed(word_list w) {
  option_reader options(w, 2);
  timed_keys t;
  if (options.takes("TIME"))
    t.when = event_time(std::chrono::milliseconds(options.integer(INT64_MIN, INT64_MAX)));
  if (!options.takes("ITEMS")) throw syntax_error();
  t.keys = options.rest();
  if (t.keys.empty()) throw wrong_arity(w[0]);
  return t;
}

std::shared_ptr<shared_filter> need(call& c) {
  auto found = c.all.filters().open(c.words[1]);
  if (!found) throw refusal{"ERR not found"};
  return found;
}

void ask(call& c, question q) {
  const timed_keys asked = parse_timed(c.words);
  const auto f = need(c);
  key_batch batch{{asked.keys.begin(), asked.keys.end()}, {}, {}, false};
  const auto clock = f->has_window() ? std::optional(service::now()) : std::nullopt;
  if (!is_refused(c.all.filters(), q, batch)) judge(f->counted(), q, batch, asked.when ? asked.when : clock);
  if (batch.is_stale) c.all.filters().forget(f);
  write_verdicts(f->handle, batch, 0, batch.keys.size(), q, reply_shape::words, c.reply);
}

void add(call& c) {
  ask(c, question::add);
}

void check(call& c) {
  ask(c, question::check);
}

/// Requests without a time are batched.
std::optional<batched_keys> timeless(word_list w, question q) {
  if (!is_word(w[2], "ITEMS")) return std::nullopt;
  return batched_keys{q, reply_shape::words, w.subspan(3)};
}

std::optional<batched_keys> timeless_to_add(word_list w) {
  return timeless(w, question::add);
}

std::optional<batched_keys> timeless_to_check(word_list w) {
  return timeless(w, question::check);
}

void info(call& c) {
  const auto f = need(c);
  const filter_info now = f->handle.info();
  const spec& s = now.spec;
  c.reply.map(12);
  const auto text = [&](std::string_view name, std::string_view value) {
    c.reply.bulk(name);
    c.reply.bulk(value);
  };
  const auto number = [&](std::string_view name, std::uint64_t value) {
    c.reply.bulk(name);
    c.reply.integer(static_cast<std::int64_t>(value));
  };
  const auto real = [&](std::string_view name, double value) {
    c.reply.bulk(name);
    c.reply.real(value);
  };
  text("name", now.name);
  number("keys", now.keys);
  number("capacity", s.capacity);
  real("error_rate", s.error_rate);
  real("error_rate_now", now.error_rate_now);
  number("bytes", now.bytes);
  text("layout", to_string(s.layout));
  text("hash", to_string(s.hash));
  text("growth", to_string(s.growth));
  number("partitions", s.partitions);
  number("window_ms", s.window ? static_cast<std::uint64_t>(s.window->width.count()) : 0);
  number("slices", s.window ? s.window->slices : 0);
}

constexpr command::key_positions first_word{1, 1, 1};

}  // namespace

std::span<const command> everseen_commands() {
  static constexpr command commands[] = {
      {"EVERSEEN.ADD", -4, right::write, runs::on_worker, first_word, "everseen",
       "Adds keys and returns for each, in order, whether it was fresh, seen, late or unknown",
       "key [TIME unix-time-milliseconds] ITEMS item [item ...]", add, timeless_to_add},
      {"EVERSEEN.CHECK", -4, right::read, runs::on_worker, first_word, "everseen",
       "Returns for each key whether it is fresh, seen, late or unknown, and changes nothing",
       "key [TIME unix-time-milliseconds] ITEMS item [item ...]", check, timeless_to_check},
      {"EVERSEEN.INFO", 2, right::read, runs::on_worker, first_word, "everseen",
       "Returns all properties of a filter", "key", info},
      {"EVERSEEN.RESERVE", -4, right::write, runs::on_worker, first_word, "everseen",
       "Creates a filter, optionally with a time window or an expiry time",
       "key error_rate capacity [WINDOW milliseconds] [SLICES count] [NONSCALING] [SIPHASH | XXH3] "
       "[PX milliseconds]",
       reserve},
  };
  return commands;
}

}  // namespace everseen::server
