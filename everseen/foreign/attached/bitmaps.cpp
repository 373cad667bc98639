#include "everseen/foreign/attached/bitmaps.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/foreign/attached/attached_task.hpp"
#include "everseen/foreign/attached/stored_config.hpp"
#include "everseen/foreign/bitmap/redisson.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

/// Bytes that one command counts: a fraction of a millisecond.
constexpr std::uint64_t counted_bytes = std::uint64_t{1} << 20;
/// The bytes of one pipeline: a server answers it before it serves other clients, which wait meanwhile.
constexpr std::uint64_t bytes_a_pipeline = 2 * counted_bytes;

route route_to(const bitmap_place& p) {
  return {p.key, p.instance};
}

std::vector<reply> exchange(session& connections, const bitmap_place& place, std::string wire,
                            std::size_t commands) {
  const request r{route_to(place), std::move(wire), commands, true};
  answer a = std::move(connections.exchange(std::span(&r, 1)).front());
  if (!a) throw backend_error(a.error().message);
  return *std::move(a);
}

/// Commands on a string, which are answered if the sizes of the filter are still the same.
request string_question(const attachment& a, const bitmap_place& place, std::string wire,
                        std::size_t commands) {
  if (!has_config(a)) return {route_to(place), std::move(wire), commands, true};
  return {route_to(place), config_request(a) + wire, commands + 1, true};
}

/// The answers to a string_question().
std::vector<reply> string_replies(answer told, const attachment& a, const bitmap_place& place) {
  if (!told) throw backend_error(told.error().message);
  std::vector<reply> replies = *std::move(told);
  if (has_config(a)) {
    if (const auto fault = config_fault(a, replies.front())) throw format_error(*fault);
    replies.erase(replies.begin());
  }
  for (const reply& each : replies) {
    if (each.is_error("WRONGTYPE")) throw format_error(string_fault::of_another_type(place.key));
    if (each.is_error()) throw backend_error(refused_command(place.key, each.text()));
  }
  return replies;
}

/// The answers to commands on a string.
std::vector<reply> ask(session& connections, const attachment& a, const bitmap_place& place, std::string wire,
                       std::size_t commands) {
  const request asked = string_question(a, place, std::move(wire), commands);
  return string_replies(std::move(connections.exchange(std::span(&asked, 1)).front()), a, place);
}

/// One answer for each part of a string, from commands that name a first and a last byte.
template <typename Take>
void for_each_part(session& connections, const attachment& a, const bitmap_place& place, std::uint64_t bytes,
                   std::string_view command, std::uint64_t part_bytes, Take take) {
  for (std::uint64_t from = 0; from < bytes;) {
    std::vector<request> parts;
    for (const std::uint64_t end = std::min(bytes, from + bytes_a_pipeline); from < end; from += part_bytes)
      parts.push_back(string_question(a, place,
                                      encode({command, place.key, std::to_string(from),
                                              std::to_string(std::min(end, from + part_bytes) - 1)}),
                                      1));
    from = std::min(from, bytes);
    for (answer& each : connections.exchange(parts)) take(string_replies(std::move(each), a, place).front());
  }
}

std::uint64_t length_of(session& connections, const attachment& a, const bitmap_place& place) {
  const std::int64_t bytes = ask(connections, a, place, encode({"STRLEN", place.key}), 1).front().integer();
  if (bytes > static_cast<std::int64_t>(longest_bytes(a)))
    throw format_error(string_fault::of_length(place.key, a));
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace

std::vector<bitmap_place> places_now(session& connections, const attachment& a) {
  if (a.shape != attachment::form::growing) return places_of(a, 0);
  const reply cursor = ask(connections, a, {a.cursor, 0}, encode({"GET", a.cursor}), 1).front();
  const auto newest = cursor.is_nil() ? std::optional<std::uint64_t>(0) : cursor_number(cursor.text());
  if (!newest) throw format_error(string_fault::of_cursor(a.cursor, cursor.text()));
  const std::string second = growing_key(a, 1);
  if (cursor.is_nil() &&
      ask(connections, a, {second, 0}, encode({"EXISTS", second}), 1).front().integer() == 1)
    throw format_error(string_fault::of_lost_cursor(a.cursor, second));
  return places_of(a, *newest);
}

std::vector<bitmap> measure(session& connections, const attachment& a) {
  std::vector<bitmap> all;
  for (const bitmap_place& place : places_now(connections, a))
    all.push_back(
        {place, to_string(connections.server_of(route_to(place))), length_of(connections, a, place)});
  return all;
}

std::vector<bitmap> survey(session& connections, const attachment& a) {
  std::vector<bitmap> all = measure(connections, a);
  for (bitmap& b : all)
    for_each_part(connections, a, b.place, b.bytes, "BITCOUNT", counted_bytes,
                  [&](const reply& part) { b.set_bits += static_cast<std::uint64_t>(part.integer()); });
  return all;
}

void read_string(session& connections, const attachment& a, const bitmap_place& place,
                 const std::function<void(std::string_view)>& take) {
  for_each_part(connections, a, place, length_of(connections, a, place), "GETRANGE", piece_bytes,
                [&](const reply& part) { take(part.text()); });
}

std::vector<key_bits> bits_of(session& connections, const attachment& a, std::string_view key) {
  const located_keys located = std::move(locate(a, {&key, 1}).front());
  std::vector<bitmap_place> places = {located.place};
  if (a.shape == attachment::form::growing) places = places_now(connections, a);
  std::vector<key_bits> all;
  for (const bitmap_place& place : places) {
    key_bits bits{place.key, located.positions, {}};
    std::string wire;
    for (const std::uint64_t p : located.positions) wire += encode({"GETBIT", place.key, std::to_string(p)});
    for (const reply& bit : ask(connections, a, place, std::move(wire), located.positions.size()))
      bits.set.push_back(bit.integer() == 1);
    all.push_back(std::move(bits));
  }
  return all;
}

foreign::scheme stored_sizes(session& connections, const attachment& a) {
  const bitmap_place place{a.key, 0};
  return read_config(a, exchange(connections, place, config_request(a), 1).front());
}

}  // namespace everseen::redis
