#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/commands/glob.hpp"
#include "everseen/serve/commands/key_type.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// Commands that list keys.
namespace everseen::serve {

namespace {

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
      r.pattern = w[i + 1];
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

}  // namespace

std::span<const command> listing_commands() {
  static constexpr command commands[] = {
      {"DBSIZE", 1, right::read, runs::on_worker, no_keys, dbsize},
      {"KEYS", 2, right::read, runs::on_worker, no_keys, keys},
      {"SCAN", -2, right::read, runs::on_worker, no_keys, scan},
  };
  return commands;
}

}  // namespace everseen::serve
