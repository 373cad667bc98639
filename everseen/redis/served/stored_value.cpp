#include "everseen/redis/served/stored_value.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/core/format/redis_keys.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/keyspace/filter_keys.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/redis/wire/refusal.hpp"

namespace everseen::redis {

namespace {

std::string_view view_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

content_id random_content() {
  return content_id{load_le64(image::random_filter_id().data())};
}

std::string bytes_of(content_id content) {
  std::array<std::byte, 8> bytes{};
  store_le(bytes.data(), static_cast<std::uint64_t>(content));
  return std::string(view_of(bytes));
}

announced_filter header_of(const filter_identity& f, std::uint32_t partition, const partition_state& s,
                           content_id content) {
  announced_filter header{f.spec};
  header.segments = segments_of(partition, s.slices);
  header.content = content;
  header.partition = partition;
  return header;
}

request question_about_value(const filter_identity& f, std::uint32_t partition) {
  const std::string key = f.keys.state(partition);
  return {{key, partition}, encode({"EVERSEEN.STATE", key}), 1, true};
}

namespace {

/// Under a key of its users, another filter is no damage.
[[noreturn]] void raise_another_filter(const filter_identity& f, const std::string& key) {
  if (!f.keys.is_value()) throw damaged_key(key, "belongs to another filter");
  throw storage_error("another filter is at the key " + key +
                          " than was attached; drop the name that leads to it, and attach it again",
                      0, {});
}

/// @throws  as value_in
announced_filter announced_in(const filter_identity& f, std::uint32_t partition, const answer& a) {
  if (!a) throw backend_error(a.error().message);
  const reply& r = a->back();
  if (r.is_error()) raise_refusal(f, partition, r);
  try {
    return image::decode_chunk_header(std::as_bytes(std::span(r[0].text())));
  } catch (const error& e) {
    throw damaged_key(f.keys.state(partition), std::string("is damaged (") + e.what() + ")");
  }
}

}  // namespace

stored_value value_in(const filter_identity& f, std::uint32_t partition, const answer& a) {
  const announced_filter known = announced_in(f, partition, a);
  const std::string key = f.keys.state(partition);
  stored_value value;
  try {
    value = {state_of(known), known.content};
  } catch (const error& e) {
    throw damaged_key(key, std::string("is damaged (") + e.what() + ")");
  }
  if (known.spec != f.spec || known.partition != partition) raise_another_filter(f, key);
  const reply successor = a->back()[1];
  if (!successor.text().empty()) value.successor = id_in(successor.text(), key);
  return value;
}

spec spec_of_value(server_connections& connections, const filter_keys& value) {
  const filter_identity unknown{value, {}, {}};
  const request asked = question_about_value(unknown, 0);
  const answer told = connections.exchange(std::span(&asked, 1)).front();
  if (told && told->back().is_error("GONE"))
    throw parameter_error("there is no key " + value.state(0) + "; check its name, or make it by BF.RESERVE");
  announced_filter known = announced_in(unknown, 0, told);
  if (known.spec.partitions != 1 || known.partition != 0)
    throw parameter_error("the key " + value.state(0) + " is one of the " +
                          std::to_string(known.spec.partitions) +
                          " parts of a filter of everseen; open that by its own name");
  return std::move(known.spec);
}

stored_value read_value(server_connections& connections, const filter_identity& f, std::uint32_t partition) {
  const request asked = question_about_value(f, partition);
  return value_in(f, partition, connections.exchange(std::span(&asked, 1)).front());
}

// In pieces, so that no command holds the server for long, and several together, so that not each of them
// costs a round trip.
bool read_bits(server_connections& connections, const filter_identity& f, const segment_id& id,
               std::span<std::byte> into) {
  const std::string key = f.keys.state(id.partition);
  const std::string slice = std::to_string(id.slice), layer = std::to_string(id.layer);
  for (std::size_t from = 0; from < into.size();) {
    std::vector<request> pieces;
    for (std::size_t position = from; position < into.size() && pieces.size() < requests_at_once;
         position += piece_bytes)
      pieces.push_back({{key, id.partition},
                        encode({"EVERSEEN.READ", key, slice, layer, std::to_string(position),
                                std::to_string(std::min<std::size_t>(piece_bytes, into.size() - position))}),
                        1,
                        true});
    for (const answer& a : connections.exchange(pieces)) {
      if (!a) throw backend_error(a.error().message);
      const reply& piece = a->back();
      if (piece.is_error("NOSEGMENT")) return false;
      if (piece.is_error()) raise_refusal(f, id.partition, piece);
      const std::size_t bytes = std::min<std::size_t>(piece_bytes, into.size() - from);
      if (piece.text().size() != bytes)
        throw damaged_key(key, "has a segment of " + std::to_string(into.size()) + " bytes, of which " +
                                   std::to_string(piece.text().size()) + " instead of " +
                                   std::to_string(bytes) + " are at " + std::to_string(from));
      std::memcpy(into.data() + from, piece.text().data(), bytes);
      from += bytes;
    }
  }
  return true;
}

std::optional<image::filter_id> successor_in(const reply& error) {
  constexpr std::string_view word = "SEALED ";
  if (!error.is_error("SEALED") || error.text().size() < word.size()) return {};
  return filter_names::parse_id(error.text().substr(word.size(), 2 * std::tuple_size_v<image::filter_id>));
}

void raise_refusal(const filter_identity& f, std::uint32_t partition, const reply& error) {
  const std::string key = f.keys.state(partition);
  if (error.is_error("GONE")) throw filter_is_gone(key);
  if (error.is_error("COPIED")) raise_another_filter(f, key);
  if (const auto successor = successor_in(error)) throw filter_is_sealed(f, *successor, key);
  if (error.text().find("WRONGTYPE") != std::string_view::npos) throw damaged_key(key, "has another type");
  const std::string server = "the Redis server of " + key, said(error.text());
  // A denial that names a command is about the command; any other is about a key.
  if (error.is_error("NOPERM") && said.find(" to run the ") == std::string::npos)
    throw backend_error(server + " does not allow its user the filter's keys (" + said +
                        "); allow them, as by ~everseen:* in its ACL");
  if (error.is_error("NOPERM"))
    throw backend_error(server + " does not allow its user the commands of the everseen module (" + said +
                        "); allow them, as by +everseen.addpacked in its ACL");
  if (is_denial(error) || error.is_error("ERR wrong number of arguments"))  // another version
    throw backend_error(server +
                        " does not have the everseen module of this version, which judges this filter; "
                        "load it there");
  throw backend_error(refused_command(key, said));
}

}  // namespace everseen::redis
