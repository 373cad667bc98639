#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/server/command.hpp"
#include "everseen/server/glob.hpp"
#include "everseen/server/numbers.hpp"
#include "everseen/server/service.hpp"

/// Commands about keys whatever they hold; here they always hold a filter.
namespace everseen::server {

namespace {

/// What RedisBloom's filters are called, which clients compare with.
constexpr std::string_view type_name = "MBbloom--";

void del(call& c) {
  std::int64_t dropped = 0;
  for (const std::string_view key : c.words.subspan(1)) dropped += c.all.filters().drop(key) ? 1 : 0;
  c.reply.integer(dropped);
}

void exists(call& c) {
  std::int64_t found = 0;
  for (const std::string_view key : c.words.subspan(1)) found += c.all.filters().exists(key) ? 1 : 0;
  c.reply.integer(found);
}

void type(call& c) {
  c.reply.status(c.all.filters().exists(c.words[1]) ? type_name : "none");
}

void dbsize(call& c) {
  c.reply.integer(static_cast<std::int64_t>(c.all.filters().keys().size()));
}

void keys(call& c) {
  std::vector<std::string> found;
  for (std::string& key : c.all.filters().keys())
    if (matches(c.words[1], key)) found.push_back(std::move(key));
  c.reply.array(found.size());
  for (const std::string& key : found) c.reply.bulk(key);
}

/// What SCAN was asked beside its cursor.
struct scan_request {
  std::string_view pattern = "*";
  std::int64_t count = 10;
  bool of_our_type = true;
};

scan_request parse_scan(word_list w) {
  scan_request r;
  for (std::size_t i = 2; i + 1 < w.size(); i += 2) {
    if (is_word(w[i], "MATCH")) {
      r.pattern = w[i + 1];
    } else if (is_word(w[i], "COUNT")) {
      const auto count = read_integer(w[i + 1]);
      if (!count || *count < 1) throw refusal{"ERR value is not an integer or out of range"};
      r.count = *count;
    } else if (is_word(w[i], "TYPE")) {
      r.of_our_type = w[i + 1] == type_name;
    } else {
      throw refusal{"ERR syntax error"};
    }
  }
  if (w.size() % 2 != 0) throw refusal{"ERR syntax error"};
  return r;
}

/// Where a key stands in the order that SCAN goes through. Every client can send 48 bits, and 0 is the end.
std::int64_t place_of(std::string_view key) {
  constexpr std::uint64_t offset = 0xcbf29ce484222325, prime = 0x100000001b3;  // FNV-1a
  std::uint64_t hash = offset;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return static_cast<std::int64_t>(hash >> 16) + 1;
}

/// The cursor is a place in an order that does not depend on which keys there are, so that a key that is
/// there all the while is met once, whatever is made and dropped meanwhile.
void scan(call& c) {
  const auto cursor = read_integer(c.words[1]);
  if (!cursor || *cursor < 0) throw refusal{"ERR invalid cursor"};
  const scan_request r = parse_scan(c.words);
  std::vector<std::pair<std::int64_t, std::string>> left;
  for (std::string& key : c.all.filters().keys())
    if (const std::int64_t place = place_of(key); place >= *cursor) left.emplace_back(place, std::move(key));
  std::sort(left.begin(), left.end());
  std::size_t count = std::min(left.size(), static_cast<std::size_t>(r.count));
  while (count > 0 && count < left.size() && left[count].first == left[count - 1].first) ++count;
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < count; ++i)
    if (r.of_our_type && matches(r.pattern, left[i].second)) found.push_back(left[i].second);
  c.reply.array(2);
  c.reply.bulk(std::to_string(count == left.size() ? 0 : left[count].first));
  c.reply.array(found.size());
  for (const std::string_view key : found) c.reply.bulk(key);
}

/// What cannot be dropped now holds up nothing else.
void flush(call& c) {
  std::size_t left = 0;
  std::string why;
  for (const std::string& key : c.all.filters().keys()) try {
      c.all.filters().drop(key);
    } catch (const no_filter&) {
      // Somebody else has dropped it.
    } catch (const error& fault) {
      if (left++ == 0) why = fault.what();
    }
  if (left > 0) throw refusal{"ERR " + std::to_string(left) + " filters are left; the first because " + why};
  c.reply.ok();
}

std::int64_t milliseconds_left(const shared_filter& f) {
  if (f.ends_at_ms == shared_filter::no_end) return -1;
  return std::max<std::int64_t>(0, f.ends_at_ms - service::now().time_since_epoch().count());
}

void pttl(call& c) {
  const auto f = c.all.filters().peek(c.words[1]);
  c.reply.integer(f ? milliseconds_left(*f) : -2);
}

void ttl(call& c) {
  const auto f = c.all.filters().peek(c.words[1]);
  const std::int64_t left = f ? milliseconds_left(*f) : -2;
  c.reply.integer(left < 0 ? left : (left + 500) / 1000);
}

void must_keep_time(const call& c) {
  if (c.all.filters().is_memory()) return;
  throw refusal{c.all.filters().place().is_remote()
                    ? "ERR a filter on servers is given its end when it is made: EVERSEEN.RESERVE ... PX"
                    : "ERR filters in files do not end by themselves; DEL removes one"};
}

void expire_after(call& c, std::int64_t unit_ms) {
  const auto time = read_integer(c.words[2]);
  constexpr std::int64_t most = INT64_MAX / 4;
  if (!time || *time > most / unit_ms || *time < -most / unit_ms)
    throw refusal{"ERR value is not an integer or out of range"};
  if (c.words.size() > 3) throw refusal{"ERR Unsupported option " + std::string(c.words[3].substr(0, 64))};
  must_keep_time(c);
  const auto f = c.all.filters().open(c.words[1]);
  if (f && *time > 0) f->ends_at_ms = service::now().time_since_epoch().count() + *time * unit_ms;
  if (f && *time <= 0) c.all.filters().drop(c.words[1]);
  c.reply.integer(f ? 1 : 0);
}

void expire(call& c) {
  expire_after(c, 1000);
}

void pexpire(call& c) {
  expire_after(c, 1);
}

void persist(call& c) {
  must_keep_time(c);
  const auto f = c.all.filters().open(c.words[1]);
  c.reply.integer(f && f->ends_at_ms.exchange(shared_filter::no_end) != shared_filter::no_end ? 1 : 0);
}

void rename(call&) {
  throw refusal{"ERR a filter keeps its name; copy it with everseen export and everseen import"};
}

constexpr command::key_positions first_word{1, 1, 1};
constexpr command::key_positions every_word{1, -1, 1};

}  // namespace

std::span<const command> key_commands() {
  static constexpr command commands[] = {
      {"DBSIZE",
       1,
       right::read,
       runs::on_worker,
       {},
       "server",
       "Tells how many filters there are",
       "",
       dbsize},
      {"DEL", -2, right::write, runs::on_worker, every_word, "generic", "Removes filters", "key [key ...]",
       del},
      {"EXISTS", -2, right::read, runs::on_worker, every_word, "generic",
       "Tells how many of these filters exist", "key [key ...]", exists},
      {"EXPIRE", -3, right::write, runs::on_worker, first_word, "generic",
       "Sets after how many seconds a filter ends; in a mem: store", "key seconds", expire},
      {"FLUSHALL",
       -1,
       right::admin,
       runs::on_worker,
       {},
       "server",
       "Removes every filter",
       "[ASYNC | SYNC]",
       flush},
      {"FLUSHDB",
       -1,
       right::admin,
       runs::on_worker,
       {},
       "server",
       "Removes every filter",
       "[ASYNC | SYNC]",
       flush},
      {"KEYS",
       2,
       right::read,
       runs::on_worker,
       {},
       "generic",
       "Lists the filters that fit a pattern",
       "pattern",
       keys},
      {"PERSIST", 2, right::write, runs::on_worker, first_word, "generic", "Takes the end of a filter away",
       "key", persist},
      {"PEXPIRE", -3, right::write, runs::on_worker, first_word, "generic",
       "Sets after how many milliseconds a filter ends; in a mem: store", "key milliseconds", pexpire},
      {"PTTL", 2, right::read, runs::on_worker, first_word, "generic",
       "Tells after how many milliseconds a filter ends", "key", pttl},
      {"RENAME",
       3,
       right::write,
       runs::at_once,
       {1, 2, 1},
       "generic",
       "Refused: a filter keeps its name",
       "key newkey",
       rename},
      {"RENAMENX",
       3,
       right::write,
       runs::at_once,
       {1, 2, 1},
       "generic",
       "Refused: a filter keeps its name",
       "key newkey",
       rename},
      {"SCAN",
       -2,
       right::read,
       runs::on_worker,
       {},
       "generic",
       "Lists filters, some at a time",
       "cursor [MATCH pattern] [COUNT count] [TYPE type]",
       scan},
      {"TTL", 2, right::read, runs::on_worker, first_word, "generic",
       "Tells after how many seconds a filter ends", "key", ttl},
      {"TYPE", 2, right::read, runs::on_worker, first_word, "generic", "Tells what a key holds", "key", type},
      {"UNLINK", -2, right::write, runs::on_worker, every_word, "generic", "Removes filters", "key [key ...]",
       del},
  };
  return commands;
}

}  // namespace everseen::server
