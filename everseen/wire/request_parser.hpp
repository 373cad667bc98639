#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace everseen::wire {

/// What a client may ask to be kept in memory for one request.
struct request_limits {
  std::size_t arguments = 1'048'576;      ///< words of one request
  std::size_t argument_bytes = 16 << 20;  ///< of one word
  std::size_t request_bytes = 64 << 20;   ///< of all, lengths and line ends included
  std::size_t inline_bytes = 64 << 10;    ///< of a request typed as a line
};

/// What is allowed to who has not said yet who he is.
inline constexpr request_limits stranger_limits{
    .arguments = 10, .argument_bytes = 16 << 10, .request_bytes = 64 << 10, .inline_bytes = 4 << 10};

/// Reads requests of the Redis protocol where they lie in the receive buffer.
///
/// A request is an array of bulk strings, the same in RESP2 and RESP3, or a line of words as a person types
/// it. Nothing is copied: the words are views of the buffer (those of a line, of the parser). How the bytes
/// were cut into pieces on their way changes nothing: RequestParserProperty.AnyCutParsesTheSame.
///
///     while (parser.next(unread) == request_parser::outcome::request) {
///       serve(parser.words());
///       unread.remove_prefix(parser.size());
///     }
///
/// Cost: 5 to 10 ns a word; a request that arrives in pieces is not read again from its beginning.
/// Memory: 16 bytes a word that has arrived, whatever number was announced; of a request of very many words
/// until the next one begins. Threads: one.
class request_parser {
 public:
  enum class outcome : std::uint8_t {
    request,     ///< words() and size() tell of it; no words: an empty line, to be passed over
    incomplete,  ///< more bytes are needed
    malformed,   ///< fault() says why; nothing that follows can be understood
  };

  explicit request_parser(const request_limits& limits) : limits_(limits) {}

  /// Looks at the bytes behind the last request; given that one's own bytes again, it gives it again.
  /// @pre after `incomplete`, `unread` begins with the same bytes as before, perhaps elsewhere in memory
  [[nodiscard]] outcome next(std::string_view unread);

  /// The words of the request; valid while the bytes are, and until next() is called again.
  [[nodiscard]] std::span<const std::string_view> words() const noexcept { return words_; }
  /// Whether the request came as a line, so that its words end with the next call of next().
  [[nodiscard]] bool is_typed() const noexcept { return !in_array_; }
  /// Bytes of the request.
  [[nodiscard]] std::size_t size() const noexcept { return position_; }
  /// After `malformed`: the text of the error reply, without its minus.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// Bytes that the request needs at least, as far as is known; to size a buffer by. 0: nothing is known.
  [[nodiscard]] std::size_t needed() const noexcept { return needed_; }

  /// Memory beside the bytes.
  [[nodiscard]] std::size_t memory() const noexcept { return words_.capacity() * sizeof(words_[0]); }

  void set_limits(const request_limits& limits) noexcept { limits_ = limits; }

 private:
  outcome read_array(std::string_view unread);
  outcome read_line(std::string_view unread);
  outcome refuse(std::string why);
  void move_words(const char* to) noexcept;

  request_limits limits_;
  std::vector<std::string_view> words_{};
  std::string typed_{};         // the words of a line, without their quotes
  const char* base_ = nullptr;  // where the request began when words_ were taken
  std::size_t position_ = 0;    // bytes of the request understood so far
  std::size_t words_left_ = 0;  // of an array
  std::size_t needed_ = 0;
  bool in_array_ = false;  // its first line was read
  bool is_done_ = true;
  std::string fault_{};
};

}  // namespace everseen::wire
