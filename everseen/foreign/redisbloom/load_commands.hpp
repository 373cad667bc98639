#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/format/stream_image.hpp"

/// A RedisBloom filter as a file: the BF.LOADCHUNK commands that recreate it, as a client sends them.
///
///     *4 CRLF  $12 CRLF BF.LOADCHUNK CRLF  $n CRLF key CRLF  $n CRLF iterator CRLF  $n CRLF bytes CRLF
///
/// One command for each pair of redisbloom.hpp, in order. `redis-cli --pipe < FILE` loads it into a
/// server; doc/format.md shows how to make such a file from a filter on a server.
namespace everseen::redisbloom {

/// Longest key that a file may name.
inline constexpr std::size_t max_key_bytes = std::size_t{64} << 10;

/// Reads such a file command by command. The bytes of a pair are read directly to their destination.
///
/// Input is not trusted: anything else is a format_error, and nothing is allocated from its numbers.
class file_reader {
 public:
  explicit file_reader(image::byte_source from);

  struct pair {
    std::int64_t iterator = 0;
    std::uint64_t bytes = 0;
  };
  /// The next pair; all its bytes must then be read. Nothing at the end of the file.
  /// @throws format_error  the file is cut off, is not such a command, or names a different key than before
  [[nodiscard]] std::optional<pair> next();

  /// Reads bytes of the pair.    @pre no more than it has left    @throws format_error  cut off
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
  std::size_t offset_ = 0;  // in buffer_
  std::size_t end_ = 0;     // of the data in buffer_
  std::optional<std::string> key_;
  std::uint64_t left_ = 0;  // of the current pair
  bool in_pair_ = false;
};

/// The text before and after the bytes of a pair.
[[nodiscard]] std::string command_before(std::string_view key, const file_reader::pair& p);
inline constexpr std::string_view command_after = "\r\n";

}  // namespace everseen::redisbloom
