#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace everseen::wire {

/// Memory limits for one request of a client.
struct request_limits {
  std::size_t arguments = 1'048'576;      ///< words per request
  std::size_t argument_bytes = 16 << 20;  ///< per word
  std::size_t request_bytes = 64 << 20;   ///< per request, including lengths and line ends
  std::size_t inline_bytes = 64 << 10;    ///< per request typed as a line
};

/// Limits for clients that have not authenticated yet.
inline constexpr request_limits stranger_limits{
    .arguments = 10, .argument_bytes = 16 << 10, .request_bytes = 64 << 10, .inline_bytes = 4 << 10};

/// Parses requests of the Redis protocol in place, in the receive buffer.
///
/// A request is an array of bulk strings, the same in RESP2 and RESP3, or a line of words as a person types
/// it. Nothing is copied: the words are views of the buffer, or of the parser for a typed line. Fragmentation
/// of the input does not affect the result: RequestParserProperty.AnyCutParsesTheSame.
///
///     while (parser.next(unread) == request_parser::outcome::request) {
///       serve(parser.words());
///       unread.remove_prefix(parser.size());
///     }
///
/// Cost: 5 to 10 ns a word; a fragmented request is not parsed again from its start.
/// Memory: 16 bytes per received word, not per announced word; a very long request keeps this memory until
/// the next request begins. Threads: one.
class request_parser {
 public:
  enum class outcome : std::uint8_t {
    request,     ///< see words() and size(); no words: an empty line, to be skipped
    incomplete,  ///< more bytes are needed
    malformed,   ///< fault() has the reason; the rest of the stream cannot be parsed
  };

  explicit request_parser(const request_limits& limits) : limits_(limits) {}

  /// Parses the bytes after the last request. A call with that request's own bytes returns it again.
  /// @pre after `incomplete`, `unread` begins with the same bytes as before, possibly at another address
  [[nodiscard]] outcome next(std::string_view unread);

  /// The words of the request; valid until the bytes are freed or next() is called.
  [[nodiscard]] std::span<const std::string_view> words() const noexcept { return words_; }
  /// Whether the request was typed as a line; its words are then invalid after the next call of next().
  [[nodiscard]] bool is_typed() const noexcept { return !in_array_; }
  /// Bytes of the request.
  [[nodiscard]] std::size_t size() const noexcept { return position_; }
  /// After `malformed`: the text of the error reply, without the leading minus.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
  /// Minimum size of the request as far as it is known, to size a buffer; 0: unknown.
  [[nodiscard]] std::size_t needed() const noexcept { return needed_; }

  /// Memory used, not counting the bytes.
  [[nodiscard]] std::size_t memory() const noexcept { return words_.capacity() * sizeof(words_[0]); }

  void set_limits(const request_limits& limits) noexcept { limits_ = limits; }

 private:
  outcome read_array(std::string_view unread);
  outcome read_line(std::string_view unread);
  outcome refuse(std::string why);
  void move_words(const char* target) noexcept;

  request_limits limits_;
  std::vector<std::string_view> words_{};
  std::string typed_{};         // the words of a typed line, without their quotes
  const char* base_ = nullptr;  // address of the request when words_ were taken
  std::size_t position_ = 0;    // bytes of the request parsed so far
  std::size_t words_left_ = 0;  // of an array
  std::size_t needed_ = 0;
  bool in_array_ = false;  // its header line was read
  bool is_done_ = true;
  std::string fault_{};
};

/// Splits a line typed by a person into words.
///
/// Blanks separate words. Double quotes group a word and support \n \r \t \b \a, \xHH and a backslash before
/// any other byte; single quotes support only \'. A closing quote must end the word.
/// @param text   receives the words' bytes    @param words  receives views of `text`
/// @return false  a quote is not closed, or is followed by other text
[[nodiscard]] bool split_typed_line(std::string_view line, std::string& text,
                                    std::vector<std::string_view>& words);

}  // namespace everseen::wire
