#include "everseen/redis/served/staged_value.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/keyspace/staged_key.hpp"
#include "everseen/redis/served/stored_value.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

std::string_view characters_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The bits of a value, piece by piece. Those that are zero already are left out.
class value_pieces {
 public:
  value_pieces(server_connections& connections, const filter_identity& f, const staged_key& k,
               const announced_filter& header)
      : connections_(connections), f_(f), staged_(k), header_(header) {}

  /// @return false  the staged value is gone
  bool add(const announced_filter::segment& s, std::span<const std::byte> bits) {
    for (std::size_t from = 0; from < bits.size(); from += piece_bytes) {
      const auto piece = bits.subspan(from, std::min<std::size_t>(piece_bytes, bits.size() - from));
      next_iterator_ += piece.size();
      if (std::ranges::all_of(piece, [](std::byte b) { return b == std::byte{}; })) continue;
      std::vector<std::byte> chunk(piece.begin(), piece.end());
      image::append_chunk_trailer(chunk, header_.content, s, from);
      pieces_.push_back(
          {staged_.place,
           encode({"EVERSEEN.LOADCHUNK", staged_.name, std::to_string(next_iterator_), characters_of(chunk)}),
           1, true});
      mark_piece(pieces_.back(), staged_, added_++);
      if (pieces_.size() == requests_at_once && !send()) return false;
    }
    return true;
  }
  /// @return false  the staged value is gone
  bool send() {
    for (const answer& a : connections_.exchange(std::exchange(pieces_, {}))) {
      if (!a) throw backend_error(a.error().message);
      if (a->front().is_error("GONE")) return false;
      if (a->front().is_error()) raise_refusal(f_, header_.partition, a->front());
      (void)expect_reply(a, staged_.name);
    }
    return true;
  }
  [[nodiscard]] std::size_t added() const noexcept { return added_; }

 private:
  server_connections& connections_;
  const filter_identity& f_;
  const staged_key& staged_;
  const announced_filter& header_;
  std::uint64_t next_iterator_ = 1;  // of the chunks: doc/format.md
  std::size_t added_ = 0;
  std::vector<request> pieces_{};
};

}  // namespace

script_call creation_of(const std::string& key, const announced_filter& header, std::string_view life_ms) {
  const auto bytes = image::encode_chunk_header(header);
  return {&staging_scripts::create(),
          {key, header.partition},
          {key},
          {std::string(life_ms), "EVERSEEN.LOADCHUNK", "1", std::string(characters_of(bytes))}};
}

// A piece sets its bit in the bitmap even if the value is gone, so each attempt has a key and a bitmap of its
// own.
void write_value(server_connections& connections, const filter_identity& f, const std::string& key,
                 const announced_filter& header, std::span<const std::span<const std::byte>> bits,
                 std::string_view life_ms) {
  for (int attempt = 0; attempt < most_writings; ++attempt) {
    const staged_key staged{
        {key, header.partition}, f.keys.staged(header.partition, random_name(), 0), std::string(life_ms)};
    (void)run_script(connections, creation_of(staged.name, header, life_ms));
    value_pieces pieces(connections, f, staged, header);
    bool is_there = true;
    for (std::size_t i = 0; i < bits.size() && is_there; ++i)
      is_there = pieces.add(header.segments.at(i), bits[i]);
    if (is_there && pieces.send() && put_in_use(connections, staged, pieces.added(), key)) return;
  }
  throw lost_data(key);
}

}  // namespace everseen::redis
