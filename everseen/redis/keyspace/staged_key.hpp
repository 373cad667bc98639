#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "everseen/redis/script/script.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// A key that a client writes piece by piece. When all of it is there, a script renames it to the key that is
/// in use.
///
/// Beside it is a bitmap in which each piece has a bit, set after the piece: a server that has the bit has
/// the piece. The script counts the bits, since a replica that takes the place of a master may lack pieces
/// that the master acknowledged. Both keys have a time limit, so whatever is abandoned or arrives late
/// expires.
struct staged_key {
  route place;          ///< of its partition
  std::string name;     ///< the key
  std::string life_ms;  ///< time limit of both keys

  [[nodiscard]] std::string bitmap() const { return name + ".pages"; }
};

/// Attempts to write a key while servers change.
inline constexpr int most_writings = 3;

/// Appends to the request for a piece what sets the bit of this piece.
void mark_piece(request& piece, const staged_key& k, std::size_t number);

/// Writes a string; pieces of zeros are not sent. Cost: a round trip for each 4 MiB, and one before.
/// @return the number of bits in the bitmap    @throws backend_error, format_error
[[nodiscard]] std::size_t write_string(server_connections& connections, const staged_key& k,
                                       std::string_view bytes);

/// Renames a key that is no string, if all of its pieces are there, or else removes it. Cost: one round trip.
/// @param pieces  the number of bits in the bitmap    @param key_in_use  in the same slot
/// @return false  the server lacks some; write it again, under another name: copies of pieces may be late
/// @throws backend_error, format_error
[[nodiscard]] bool put_in_use(server_connections& connections, const staged_key& k, std::size_t pieces,
                              const std::string& key_in_use);

/// Writes a string and renames it. Cost: as write_string, and one round trip; of up to 16 KiB, one in all.
/// @return, @throws  as put_in_use
[[nodiscard]] bool store_string(server_connections& connections, const staged_key& k, std::string_view bytes,
                                const std::string& key_in_use);

}  // namespace everseen::redis

/// Each can be repeated.
namespace everseen::redis::staging_scripts {

/// Creates a key with a time limit by a command, unless it exists.
/// KEYS  the key, then keys that must exist: their time limit begins again
/// ARGV  lifetime in ms, command, its words after the key
/// Returns 1 it exists; 0 another key is missing.
[[nodiscard]] const script& create();

/// Begins the time limit of a key again, unless it has none: then it is in use.
/// KEYS  the key    ARGV  lifetime in ms    Returns 1 it exists; 0 it does not.
[[nodiscard]] const script& prolong();

/// Renames a staged key, with a new time limit, unless there is a key of this name already.
/// KEYS  staged key, its bitmap, the new key    ARGV  number of bits in the bitmap, length of a string or 0,
/// lifetime in ms
/// Returns 1 done, by this call or an earlier copy of it; 0 pieces are missing. The staged key and its bitmap
/// are gone.
[[nodiscard]] const script& put_in_use();

}  // namespace everseen::redis::staging_scripts
