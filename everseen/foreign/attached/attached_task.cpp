#include "everseen/foreign/attached/attached_task.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/digits.hpp"
#include "everseen/foreign/attached/attached_scripts.hpp"
#include "everseen/foreign/attached/bitmaps.hpp"
#include "everseen/foreign/bitmap/php_filters.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::foreign {

namespace {

using cause = batch_failure::cause;

/// The limits of one call, in keys and in bits searched in all strings: a few milliseconds of the server's
/// time.
constexpr std::size_t keys_a_call = 1000;
constexpr std::size_t bits_a_call = 16'000;
/// Keys whose bits one command reads if nothing has to be atomic.
constexpr std::size_t keys_a_read = 64;
constexpr int max_moved = 1000;  // another client always moves it first: then something is broken

/// The command that reads or sets bits, and answers what they were.
std::string bits_command(std::string_view name, const std::string& key,
                         std::span<const std::uint64_t> positions, bool set) {
  std::vector<std::string> words = {std::string(name), key};
  for (const std::uint64_t p : positions) {
    words.insert(words.end(), {set ? "SET" : "GET", "u1", std::to_string(p)});
    if (set) words.emplace_back("1");
  }
  return redis::encode(std::vector<std::string_view>(words.begin(), words.end()));
}

/// The bit positions of keys as an argument of a script. Each key has a record: a MessagePack string of
/// decimal digits for each probe, then zeros up to the length of the longest possible record.
/// @param positions  `probes` of them for each key, each below `bits`
std::string pack_positions(std::span<const std::uint64_t> positions, unsigned probes, std::uint64_t bits) {
  constexpr unsigned char short_string = 0xa0;  // MessagePack: + length, up to 31 bytes
  const std::size_t longest = std::to_string(bits - 1).size();
  const std::size_t stride = probes * (1 + longest);
  std::string records(positions.size() / probes * stride, '\0');
  for (std::size_t key = 0; key < positions.size() / probes; ++key) {
    char* cursor = records.data() + key * stride;
    for (const std::uint64_t position : positions.subspan(key * probes, probes)) {
      char* const end = std::to_chars(cursor + 1, cursor + 1 + longest, position).ptr;
      *cursor = static_cast<char>(short_string + (end - cursor - 1));
      cursor = end;
    }
  }
  return records;
}

}  // namespace

attached_task::attached_task(const attached_names& f, purpose intent, located_keys keys,
                             std::span<verdict> out, commands c)
    : names_(f), purpose_(intent), keys_(std::move(keys)), out_(out), commands_(std::move(c)) {
  for (const std::uint32_t origin : keys_.origin) out_[origin] = verdict::unknown;
}

std::size_t attached_task::count() const noexcept {
  const std::size_t strings = grows() ? commands_.newest + 1 : 1;
  const std::size_t keys =
      std::clamp<std::size_t>(bits_a_call / (strings * names_.target.hashing.probes), 1, keys_a_call);
  return std::min(keys, keys_.origin.size() - from_);
}

std::span<const std::uint64_t> attached_task::positions_of(std::size_t first, std::size_t keys) const {
  const std::size_t probes = names_.target.hashing.probes;
  return std::span(keys_.positions).subspan(first * probes, keys * probes);
}

redis::request attached_task::next() {
  EVERSEEN_ASSERT(!done());
  if (commands_.by_script) return ask_script();
  if (!has_looked_) return ask_length();
  return purpose_ == purpose::add ? ask_to_write() : ask_to_read();
}

void attached_task::take(const redis::answer& a) {
  if (!a) {
    const bool may_have_run = adds_next() && !commands_.by_script && a.error().may_have_run;
    return fail(cause::backend,
                a.error().message + (may_have_run ? "; some of the keys may have been added" : ""));
  }
  if (commands_.by_script) return take_script(a->back());
  has_looked_ ? take_bits(a) : take_length(a);
}

std::vector<std::string> attached_task::script_keys() const {
  std::vector<std::string> keys;
  if (purpose_ == purpose::add) keys.push_back(token_key(names_.own, keys_.place.key, commands_.client));
  if (!grows()) {
    keys.push_back(keys_.place.key);
    if (has_config(names_.target)) keys.push_back(config_key(names_.target));
    return keys;
  }
  for (const bitmap_place& p : places_of(names_.target, commands_.newest + 1)) keys.push_back(p.key);
  keys.push_back(names_.target.cursor);
  return keys;
}

std::vector<std::string> attached_task::script_arguments() const {
  const scheme& hashing = names_.target.hashing;
  const std::string most = std::to_string(longest_bytes(names_.target)), keys = std::to_string(count());
  const std::string newest = grows() ? std::to_string(commands_.newest) : "";
  std::string records = pack_positions(positions_of(from_, count()), hashing.probes, hashing.bits);
  if (purpose_ == purpose::check) return {most, keys, std::move(records), newest, config_text(names_.target)};
  const std::uint64_t reached = grows() ? hashing.bits - 1 : last_position(from_, count());
  return {sequence_,
          std::to_string(commands_.keeps_answers.count()),
          most,
          keys,
          std::move(records),
          std::to_string(reached),
          newest,
          std::to_string(hashing.bits),
          std::to_string(reachable_bits(names_.target)),
          config_text(names_.target)};
}

redis::request attached_task::ask_script() {
  // The sequence stays the same until the call is answered.
  if (purpose_ == purpose::add && sequence_.empty()) sequence_ = redis::next_sequence();
  const unsigned probes = names_.target.hashing.probes;
  const redis::script& s =
      purpose_ == purpose::add ? attached_scripts::add(probes) : attached_scripts::check(probes);
  const redis::repetition remembered =
      purpose_ == purpose::add ? redis::repetition(commands_.keeps_answers) : redis::repetition(true);
  redis::request r{place(), encode_call(s, script_keys(), script_arguments()), 1, remembered};
  r.called = &s;
  return r;
}

void attached_task::take_script(const redis::reply& r) {
  sequence_.clear();
  if (forbids_scripts(r)) {
    if (grows())
      return fail(
          cause::backend,
          "a growing filter needs scripts, and the Redis server forbids them; allow EVAL and EVALSHA");
    if (!commands_.may_change) return refused(r);
    commands_.by_script = false;
    return;
  }
  // A user with only read permission may not run a script on a key, but may use BITFIELD_RO.
  if (r.is_error("NOPERM") && purpose_ == purpose::check && commands_.may_change && !grows()) {
    commands_.by_script = false;
    return;
  }
  if (r.is_error()) return refused(r);
  const std::string_view message = r.text();
  if (r.what() != redis::reply::kind::string)
    return fail(cause::backend, "a script did not answer with verdicts");
  if (message.find_first_not_of("01") == std::string_view::npos) return take_verdicts(message);
  take_fault(message);
}

/// Handles a script's reason for judging nothing.
void attached_task::take_fault(std::string_view fault) {
  const std::uint64_t number = read_number(fault.substr(std::min<std::size_t>(1, fault.size()))).value_or(0);
  const bool has_number = number > 0;
  const std::string key = grows() && has_number ? growing_key(names_.target, number - 1) : keys_.place.key;
  if (fault.starts_with('S')) return take_newest(fault.substr(1));
  if (fault.starts_with('F')) return fail(cause::format, config_fault(names_.target, fault.substr(1)));
  if (fault == "H") {
    held_ = true;
    return;
  }
  if (fault == "C")
    return fail(cause::format,
                string_fault::of_lost_cursor(names_.target.cursor, growing_key(names_.target, 1)));
  if (fault.starts_with('M') && has_number)
    return fail(cause::format, string_fault::of_missing(key, names_.target));
  if ((fault.starts_with('L') || fault.starts_with('T')) && has_number)
    return wrong_string(fault.front(), key);
  if (fault == "O")
    return fail(
        cause::backend,
        "a later batch of this connection was answered before this one, which is not judged any more");
  fail(cause::backend,
       "a script answered '" + std::string(fault.substr(0, 20)) + "', which are not verdicts");
}

void attached_task::give_up_waiting() {
  held_ = false;
  fail(cause::format, string_fault::of_missing(growing_key(names_.target, commands_.newest), names_.target));
}

void attached_task::take_verdicts(std::string_view verdicts) {
  if (verdicts.size() > count()) return fail(cause::backend, "the server sent more verdicts than requested");
  const bool stopped = verdicts.size() < count();
  if (stopped && !grows()) return fail(cause::backend, "the server sent fewer verdicts than requested");
  if (verdicts.empty()) return take_newest(std::to_string(commands_.newest + 1));
  for (const char v : verdicts) judge_key(from_++, v == '1');
  moved_ = 0;
}

void attached_task::take_newest(std::string_view number) {
  const auto newest = cursor_number(number);
  if (!newest) return fail(cause::format, string_fault::of_cursor(names_.target.cursor, number));
  if (++moved_ == max_moved) return fail(cause::backend, "the cursor moves faster than it can be read");
  commands_.newest = *newest;
}

void attached_task::judge_key(std::size_t key, bool seen) {
  out_[keys_.origin[key]] = seen ? verdict::seen : verdict::fresh;
}

std::uint64_t attached_task::last_position(std::size_t first, std::size_t keys) const {
  return std::ranges::max(positions_of(first, keys));
}

/// A script checks the length in the step that writes. Without scripts it is checked once, before any bit is
/// set.
redis::request attached_task::ask_length() const {
  redis::request r{place(), redis::encode({"STRLEN", keys_.place.key}), 1, true};
  if (has_config(names_.target)) {
    r.wire += config_request(names_.target);
    ++r.commands;
  }
  return r;
}

void attached_task::take_length(const redis::answer& a) {
  const redis::reply& r = a->front();
  if (r.is_error("WRONGTYPE")) return wrong_string('T', keys_.place.key);
  if (r.is_error()) return refused(r);
  if (r.integer() > static_cast<std::int64_t>(longest_bytes(names_.target)))
    return wrong_string('L', keys_.place.key);
  if (has_config(names_.target)) {
    if (a->back().is_error("NOPERM")) return refused(a->back());
    if (const auto fault = config_fault(names_.target, a->back())) return fail(cause::format, *fault);
  }
  has_looked_ = true;
}

/// The first command extends the string in one step, without changing a bit: extending it key by key may copy
/// it each time.
redis::request attached_task::ask_to_write() const {
  redis::request r{place(), "", count(), false};
  if (from_ == 0) {
    const std::string last = std::to_string(last_position(0, keys_.origin.size()));
    r.wire = redis::encode({"BITFIELD", keys_.place.key, "INCRBY", "u1", last, "0"});
    ++r.commands;
  }
  for (std::size_t key = from_; key < from_ + count(); ++key)
    r.wire += bits_command("BITFIELD", keys_.place.key, positions_of(key, 1), true);
  return r;
}

redis::request attached_task::ask_to_read() const {
  redis::request r{place(), "", 0, true};
  for (std::size_t key = from_; key < from_ + count(); key += keys_a_read, ++r.commands)
    r.wire += bits_command(reading_, keys_.place.key,
                           positions_of(key, std::min(keys_a_read, from_ + count() - key)), false);
  return r;
}

/// The previous bits, command by command. Each is judged separately: if a command is refused, those after it
/// have still added their keys.
void attached_task::take_bits(const redis::answer& a) {
  const std::size_t probes = names_.target.hashing.probes;
  const std::size_t end = from_ + count();
  const std::size_t keys_a_command = purpose_ == purpose::add ? 1 : keys_a_read;
  // Before Redis 6 there is no command that only reads.
  if (a->front().is_error("ERR") && reading_ != "BITFIELD" &&
      a->front().text().starts_with("ERR unknown command")) {
    reading_ = "BITFIELD";
    return;
  }
  std::size_t first = from_;
  const bool has_lengthened =
      purpose_ == purpose::add && from_ == 0;  // where that is refused, so are its keys
  for (const redis::reply& r : std::span(*a).subspan(has_lengthened ? 1 : 0)) {
    const std::size_t keys = std::min(keys_a_command, end - first);
    if (r.is_error()) {
      if (!failure_) refused(r);
    } else if (r.size() != keys * probes) {
      if (!failure_) fail(cause::backend, "the server answered with another number of bits than requested");
    } else {
      for (std::size_t key = 0; key < keys; ++key) {
        std::size_t set = 0;
        for (std::size_t i = 0; i < probes; ++i) set += r[key * probes + i].integer() == 1 ? 1 : 0;
        judge_key(first + key, set == probes);
      }
    }
    first += keys;
  }
  from_ = end;
}

void attached_task::fail(batch_failure::cause why, std::string message) {
  failure_ = batch_failure{why, std::move(message), {}};
}

void attached_task::refused(const redis::reply& r) {
  const std::string message(r.text());
  const std::string& key = keys_.place.key;
  if (message.find("WRONGTYPE") != std::string::npos) return wrong_string('T', key);
  if (r.is_error("NOPERM"))
    return fail(cause::backend, "the Redis user may not do what everseen needs: commands on " + key +
                                    " and on its own keys, which begin with " + names_.own +
                                    " (it says: " + message + ")");
  fail(cause::backend, redis::refused_command(key, message));
}

void attached_task::wrong_string(char fault, const std::string& key) {
  fail(cause::format,
       fault == 'T' ? string_fault::of_another_type(key) : string_fault::of_length(key, names_.target));
}

namespace {

using bkdr_php::shards;

void append(const attachment& a, std::string_view key, std::uint32_t origin, located_keys& target) {
  const std::size_t position = target.positions.size();
  target.positions.resize(position + a.hashing.probes);
  positions(a.hashing, key, std::span(target.positions).subspan(position));
  target.origin.push_back(origin);
}

std::vector<located_keys> locate_in_shards(const attachment& a, std::span<const std::string_view> keys) {
  const shards all(a.hashing.bits, a.instances);
  std::map<std::pair<std::uint32_t, std::uint64_t>, located_keys> by_place;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    const shards::place p = all.of(keys[i]);
    auto [position, is_new] = by_place.try_emplace({p.instance, p.partition});
    if (is_new) position->second.place = {shards::redis_key(a.key, p.partition), p.instance};
    append(a, keys[i], i, position->second);
  }
  std::vector<located_keys> located;
  for (auto& [number, some] : by_place) located.push_back(std::move(some));
  return located;
}

}  // namespace

std::vector<located_keys> locate(const attachment& a, std::span<const std::string_view> keys) {
  if (keys.empty()) return {};
  if (a.shape == attachment::form::sharded) return locate_in_shards(a, keys);
  located_keys all{places_of(a, 0).front()};
  all.origin.reserve(keys.size());
  all.positions.reserve(keys.size() * a.hashing.probes);
  std::string element;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    apply_funnel(a.funnel, keys[i], element);
    append(a, element, i, all);
  }
  return {std::move(all)};
}

}  // namespace everseen::foreign
