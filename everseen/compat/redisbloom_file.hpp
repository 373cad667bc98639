#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/stream_image.hpp"

/// A filter of RedisBloom as a file: the BF.LOADCHUNK commands that make it anew, as a client sends them.
///
///     *4 CRLF  $12 CRLF BF.LOADCHUNK CRLF  $n CRLF key CRLF  $n CRLF iterator CRLF  $n CRLF bytes CRLF
///
/// for each pair of redisbloom_dump.hpp, in their order. `redis-cli --pipe < FILE` loads it into a server;
/// doc/format.md has the few lines that make one of a filter on a server.
namespace everseen::compat::redisbloom {

/// Longest key of a Redis server that a file may name.
inline constexpr std::size_t max_key_bytes = std::size_t{64} << 10;

/// Reads such a file command by command; the bytes of a pair are not gathered, but read where they belong.
///
/// Believes nothing: what is no such command is a format_error, and nothing is allocated from its numbers.
class file_reader {
 public:
  explicit file_reader(image::byte_source from);

  struct pair {
    std::int64_t iterator = 0;
    std::uint64_t bytes = 0;
  };
  /// The next pair, its bytes still to be read, all of them; nothing at the end of the file.
  /// @throws format_error  cut off, not such a command, or for another key than the ones before
  [[nodiscard]] std::optional<pair> next();

  /// Takes bytes of the pair.    @pre no more than are left of it    @throws format_error  cut off
  void read(std::span<std::byte> into);

 private:
  void end_pair();
  [[nodiscard]] bool fill();
  void take(std::span<std::byte> into);
  void expect(std::string_view text);
  [[nodiscard]] std::uint64_t number(char before, std::uint64_t most);
  [[nodiscard]] std::string word(std::uint64_t most_bytes);

  image::byte_source from_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0;   // in buffer_
  std::size_t end_ = 0;  // of what was read into it
  std::optional<std::string> key_;
  std::uint64_t left_ = 0;  // of the pair at hand
  bool in_pair_ = false;
};

/// What stands before and behind the bytes of a pair.
[[nodiscard]] std::string command_before(std::string_view key, const file_reader::pair& p);
inline constexpr std::string_view command_after = "\r\n";

}  // namespace everseen::compat::redisbloom
