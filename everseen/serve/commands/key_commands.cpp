#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/commands/glob.hpp"
#include "everseen/serve/registry/filter_budget.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// Commands about keys of any type, one or all of them; here every key is a filter.
namespace everseen::serve {

namespace {

/// The type name of RedisBloom's filters, which clients compare with.
constexpr std::string_view type_name = "MBbloom--";

void del(call& c) {
  std::int64_t dropped = 0;
  for (const std::string_view key : c.words.subspan(1)) dropped += c.all.drop(key) ? 1 : 0;
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

/// A filter that cannot be dropped now does not stop the others.
void flush(call& c) {
  const word_list modifiers = c.words.subspan(1);
  if (modifiers.size() > 1 ||
      (modifiers.size() == 1 && !is_word(modifiers[0], "ASYNC") && !is_word(modifiers[0], "SYNC")))
    throw syntax_error();
  std::size_t left = 0;
  std::string why;
  c.all.loads().forget_all();
  for (const std::string& name : c.all.filters().keys()) try {
      c.all.filters().drop(name);
    } catch (const no_filter&) {
      // Another client has dropped it.
    } catch (const error& fault) {
      if (left++ == 0) why = fault.what();
    }
  if (left > 0) throw refusal{"ERR " + std::to_string(left) + " filters are left; the first because " + why};
  c.reply.ok();
}

/// @return false  the new key exists, and must stay
bool rename(call& c, store::namesake there) {
  try {
    c.all.filters().rename(c.words[1], c.words[2], there);
    return true;
  } catch (const name_taken&) {
    return false;
  } catch (const no_filter&) {
    throw refusal{"ERR no such key"};
  }
}

void rename_over(call& c) {
  if (!rename(c, store::namesake::replace))
    throw refusal{"ERR another client has created a filter of that key"};
  c.reply.ok();
}

void rename_if_free(call& c) {
  c.reply.integer(rename(c, store::namesake::refuse) ? 1 : 0);
}

constexpr command::key_positions first_two{1, 2, 1};

void dbsize(call& c) {
  c.reply.integer(static_cast<std::int64_t>(c.all.filters().keys().size()));
}

/// As long as the longest name with each of its bytes escaped: matching costs the product of both lengths.
constexpr std::size_t most_pattern_bytes = 2 * max_name_bytes;

/// @throws refusal  it is longer than any name needs
std::string_view pattern_of(std::string_view word) {
  if (word.size() <= most_pattern_bytes) return word;
  throw refusal{"ERR a pattern has at most " + std::to_string(most_pattern_bytes) + " bytes"};
}

void keys(call& c) {
  const std::string_view pattern = pattern_of(c.words[1]);
  std::vector<std::string> found;
  for (std::string& key : c.all.filters().keys())
    if (matches(pattern, key)) found.push_back(std::move(key));
  c.reply.array(found.size());
  for (const std::string& key : found) c.reply.bulk(key);
}

/// The options of SCAN.
struct scan_request {
  std::string_view pattern = "*";
  std::int64_t count = 10;
  bool of_our_type = true;
};

scan_request parse_scan(word_list w) {
  scan_request r;
  for (std::size_t i = 2; i + 1 < w.size(); i += 2) {
    if (is_word(w[i], "MATCH")) {
      r.pattern = pattern_of(w[i + 1]);
    } else if (is_word(w[i], "COUNT")) {
      const auto count = read_integer(w[i + 1]);
      if (!count) throw refusal{"ERR value is not an integer or out of range"};
      if (*count < 1) throw syntax_error();
      r.count = *count;
    } else if (is_word(w[i], "TYPE")) {
      r.of_our_type = w[i + 1] == type_name;
    } else {
      throw syntax_error();
    }
  }
  if (w.size() % 2 != 0) throw syntax_error();
  return r;
}

/// The position of a key in SCAN's order: 48 bits, which every client can send, and never 0, which marks the
/// end.
std::int64_t place_of(std::string_view key) {
  constexpr std::uint64_t offset = 0xcbf29ce484222325, prime = 0x100000001b3;  // FNV-1a
  std::uint64_t hash = offset;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return static_cast<std::int64_t>(hash >> 16) + 1;
}

/// The cursor is a position in an order that does not depend on the other keys. So a key that exists
/// throughout the scan is returned once, even if others are created and dropped meanwhile.
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

/// MEMORY USAGE key [SAMPLES count]
void usage(call& c) {
  const word_list options = c.words.subspan(3);
  if (!options.empty()) {
    if (options.size() != 2 || !is_word(options[0], "SAMPLES")) throw syntax_error();
    const auto samples = read_integer(options[1]);
    if (!samples) throw refusal{"ERR value is not an integer or out of range"};
    if (*samples < 0) throw syntax_error();
  }
  const auto f = c.all.filters().peek(c.words[2]);
  if (!f) return c.reply.null();
  const std::uint64_t bits = std::max(f->planned_bytes, f->handle.info().bytes);
  c.reply.integer(static_cast<std::int64_t>(bits + bytes_beside_bits(f->handle.get_spec().partitions)));
}

constexpr command::key_positions third_word{2, 2, 1};

}  // namespace

std::span<const command> key_commands() {
  static constexpr command of_memory[] = {
      {"MEMORY|USAGE", -3, right::read, runs::on_worker, third_word, usage},
  };
  static constexpr command commands[] = {
      {"DBSIZE", 1, right::read, runs::on_worker, no_keys, dbsize},
      {"DEL", -2, right::write, runs::on_worker, every_word, del},
      {"EXISTS", -2, right::read, runs::on_worker, every_word, exists},
      {"FLUSHALL", -1, right::admin, runs::on_worker, no_keys, flush},
      {"FLUSHDB", -1, right::admin, runs::on_worker, no_keys, flush},
      {"KEYS", 2, right::read, runs::on_worker, no_keys, keys},
      {"MEMORY", -2, right::read, runs::at_once, no_keys, nullptr, nullptr, false, of_memory},
      {"RENAME", 3, right::write, runs::on_worker, first_two, rename_over},
      {"RENAMENX", 3, right::write, runs::on_worker, first_two, rename_if_free},
      {"SCAN", -2, right::read, runs::on_worker, no_keys, scan},
      {"TYPE", 2, right::read, runs::on_worker, first_word, type},
      {"UNLINK", -2, right::write, runs::on_worker, every_word, del},
  };
  return commands;
}

}  // namespace everseen::serve
