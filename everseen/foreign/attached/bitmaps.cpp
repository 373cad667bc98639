#include "everseen/foreign/attached/bitmaps.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/foreign/attached/attached_task.hpp"
#include "everseen/foreign/bitmap/redisson.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::foreign {

namespace {

/// Bytes that one command counts: a fraction of a millisecond.
constexpr std::uint64_t counted_bytes = std::uint64_t{1} << 20;
/// The bytes of one pipeline: a server answers it before it serves other clients, which wait meanwhile.
constexpr std::uint64_t bytes_a_pipeline = 2 * counted_bytes;

redis::route route_to(const bitmap_place& p) {
  return {p.key, p.instance};
}

std::vector<redis::reply> exchange(redis::server_connections& connections, const bitmap_place& place,
                                   std::string wire, std::size_t commands) {
  const redis::request r{route_to(place), std::move(wire), commands, true};
  redis::answer a = std::move(connections.exchange(std::span(&r, 1)).front());
  if (!a) throw backend_error(a.error().message);
  return *std::move(a);
}

/// Commands on a string, which are answered if the sizes of the filter are still the same.
redis::request string_question(const attachment& a, const bitmap_place& place, std::string wire,
                               std::size_t commands) {
  if (!has_config(a)) return {route_to(place), std::move(wire), commands, true};
  return {route_to(place), config_request(a) + wire, commands + 1, true};
}

/// The answers to a string_question().
std::vector<redis::reply> string_replies(redis::answer told, const attachment& a, const bitmap_place& place) {
  if (!told) throw backend_error(told.error().message);
  std::vector<redis::reply> replies = *std::move(told);
  if (has_config(a)) {
    if (const auto fault = config_fault(a, replies.front())) throw format_error(*fault);
    replies.erase(replies.begin());
  }
  for (const redis::reply& each : replies) {
    if (each.is_error("WRONGTYPE")) throw format_error(string_fault::of_another_type(place.key));
    if (each.is_error()) throw backend_error(redis::refused_command(place.key, each.text()));
  }
  return replies;
}

/// The answers to commands on a string.
std::vector<redis::reply> ask(redis::server_connections& connections, const attachment& a,
                              const bitmap_place& place, std::string wire, std::size_t commands) {
  const redis::request asked = string_question(a, place, std::move(wire), commands);
  return string_replies(std::move(connections.exchange(std::span(&asked, 1)).front()), a, place);
}

/// One answer for each part of a string, from commands that name a first and a last byte.
template <typename Take>
void for_each_part(redis::server_connections& connections, const attachment& a, const bitmap_place& place,
                   std::uint64_t bytes, std::string_view command, std::uint64_t part_bytes, Take take) {
  for (std::uint64_t from = 0; from < bytes;) {
    std::vector<redis::request> parts;
    for (const std::uint64_t end = std::min(bytes, from + bytes_a_pipeline); from < end; from += part_bytes)
      parts.push_back(string_question(a, place,
                                      redis::encode({command, place.key, std::to_string(from),
                                                     std::to_string(std::min(end, from + part_bytes) - 1)}),
                                      1));
    from = std::min(from, bytes);
    for (redis::answer& each : connections.exchange(parts))
      take(string_replies(std::move(each), a, place).front());
  }
}

std::uint64_t length_of(redis::server_connections& connections, const attachment& a,
                        const bitmap_place& place) {
  const std::int64_t bytes =
      ask(connections, a, place, redis::encode({"STRLEN", place.key}), 1).front().integer();
  if (bytes > static_cast<std::int64_t>(longest_bytes(a)))
    throw format_error(string_fault::of_length(place.key, a));
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace

std::vector<bitmap_place> places_now(redis::server_connections& connections, const attachment& a) {
  if (a.shape != attachment::form::growing) return places_of(a, 0);
  const redis::reply cursor = ask(connections, a, {a.cursor, 0}, redis::encode({"GET", a.cursor}), 1).front();
  const auto newest = cursor.is_nil() ? std::optional<std::uint64_t>(0) : cursor_number(cursor.text());
  if (!newest) throw format_error(string_fault::of_cursor(a.cursor, cursor.text()));
  const std::string second = growing_key(a, 1);
  if (cursor.is_nil() &&
      ask(connections, a, {second, 0}, redis::encode({"EXISTS", second}), 1).front().integer() == 1)
    throw format_error(string_fault::of_lost_cursor(a.cursor, second));
  return places_of(a, *newest);
}

std::vector<bitmap> measure(redis::server_connections& connections, const attachment& a) {
  std::vector<bitmap> all;
  for (const bitmap_place& place : places_now(connections, a))
    all.push_back(
        {place, to_string(connections.server_of(route_to(place))), length_of(connections, a, place)});
  return all;
}

std::vector<bitmap> survey(redis::server_connections& connections, const attachment& a) {
  std::vector<bitmap> all = measure(connections, a);
  for (bitmap& b : all)
    for_each_part(connections, a, b.place, b.bytes, "BITCOUNT", counted_bytes, [&](const redis::reply& part) {
      b.set_bits += static_cast<std::uint64_t>(part.integer());
    });
  return all;
}

void read_string(redis::server_connections& connections, const attachment& a, const bitmap_place& place,
                 const std::function<void(std::string_view)>& take) {
  for_each_part(connections, a, place, length_of(connections, a, place), "GETRANGE", redis::piece_bytes,
                [&](const redis::reply& part) { take(part.text()); });
}

std::vector<key_bits> bits_of(redis::server_connections& connections, const attachment& a,
                              std::string_view key) {
  const located_keys located = std::move(locate(a, {&key, 1}).front());
  std::vector<bitmap_place> places = {located.place};
  if (a.shape == attachment::form::growing) places = places_now(connections, a);
  std::vector<key_bits> all;
  for (const bitmap_place& place : places) {
    key_bits bits{place.key, located.positions, {}};
    std::string wire;
    for (const std::uint64_t p : located.positions)
      wire += redis::encode({"GETBIT", place.key, std::to_string(p)});
    for (const redis::reply& bit : ask(connections, a, place, std::move(wire), located.positions.size()))
      bits.set.push_back(bit.integer() == 1);
    all.push_back(std::move(bits));
  }
  return all;
}

scheme stored_sizes(redis::server_connections& connections, const attachment& a) {
  const bitmap_place place{a.key, 0};
  return read_config(a, exchange(connections, place, config_request(a), 1).front());
}

namespace {

constexpr std::string_view nothing_stored = " ";

/// As scripts join them; a field that is missing is empty.
std::string joined(const redis::reply& r) {
  return std::string(r[0].text()) + " " + std::string(r[1].text());
}

}  // namespace

bool has_config(const attachment& a) noexcept {
  return a.hashing.which == family::redisson;
}

std::string config_key(const attachment& a) {
  return redisson::config_key(a.key);
}

std::string config_text(const attachment& a) {
  return has_config(a) ? std::to_string(a.hashing.bits) + " " + std::to_string(a.hashing.probes) : "";
}

std::string config_request(const attachment& a) {
  return redis::encode({"HMGET", config_key(a), redisson::size_field, redisson::probes_field});
}

std::optional<std::string> config_fault(const attachment& a, const redis::reply& r) {
  if (r.is_error("WRONGTYPE")) return string_fault::of_another_type(config_key(a));
  if (r.is_error()) throw backend_error(redis::refused_command(config_key(a), r.text()));
  const std::string found = joined(r);
  if (found == config_text(a)) return {};
  return config_fault(a, found);
}

std::string config_fault(const attachment& a, std::string_view found) {
  if (found == nothing_stored)
    return "the hash " + config_key(a) +
           ", which has the sizes of the filter, is missing: Redisson deleted or renamed it, or it has "
           "expired or was evicted. Forget it with everseen drop";
  const std::size_t blank = found.find(' ');
  return "the hash " + config_key(a) + " says size " + std::string(found.substr(0, blank)) +
         " and hashIterations " + std::string(found.substr(blank + 1)) + ", but " +
         std::to_string(a.hashing.bits) + " and " + std::to_string(a.hashing.probes) +
         " when the filter was attached: Redisson created it again. Forget it with everseen drop, and attach "
         "it again";
}

scheme read_config(const attachment& a, const redis::reply& r) {
  const std::string key = config_key(a);
  if (r.is_error("WRONGTYPE"))
    throw parameter_error("the key " + key + " is not a hash, so " + a.key + " is not a filter of Redisson");
  if (r.is_error()) throw backend_error(redis::refused_command(key, r.text()));
  if (joined(r) == nothing_stored)
    throw parameter_error("there is no hash " + key + ", in which Redisson keeps the sizes of the filter " +
                          a.key + "; check its name, or call tryInit() first");
  const auto bits = read_number(r[0].text()), probes = read_number(r[1].text());
  if (!bits || !probes || *probes > max_probes)
    throw parameter_error("the hash " + key + " says size '" + std::string(r[0].text().substr(0, 40)) +
                          "' and hashIterations '" + std::string(r[1].text().substr(0, 40)) +
                          "'; everseen takes sizes from 1 on and 1 to 64 hashIterations");
  return {a.hashing.which, *bits, static_cast<unsigned>(*probes)};
}

}  // namespace everseen::foreign
