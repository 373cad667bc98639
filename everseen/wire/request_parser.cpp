#include "everseen/wire/request_parser.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

namespace everseen::wire {

namespace {

/// A length in the protocol: digits and a line end.
struct length_line {
  enum class state : std::uint8_t { whole, cut, wrong };
  state is = state::cut;
  bool negative = false;
  std::uint64_t value = 0;
  const char* end = nullptr;  // after the line end
};

/// Lengths with more digits are rejected before they can overflow; no limit has that many digits.
constexpr int most_digits = 18;

length_line read_length(const char* cursor, const char* end) noexcept {
  length_line line;
  if (cursor != end && *cursor == '-') line.negative = true, ++cursor;
  const char* const first = cursor;
  for (; cursor != end; ++cursor) {
    const unsigned digit = static_cast<unsigned char>(*cursor) - unsigned{'0'};
    if (digit > 9) break;
    line.value = line.value * 10 + digit;
    if (cursor - first >= most_digits) return line.is = length_line::state::wrong, line;
  }
  if (cursor == end) return line;
  if (*cursor != '\r' || cursor == first) return line.is = length_line::state::wrong, line;
  if (cursor + 1 == end) return line;
  line.is = cursor[1] == '\n' ? length_line::state::whole : length_line::state::wrong;
  line.end = cursor + 2;
  return line;
}

/// Memory for more words is freed: the client of a long request may send nothing more for a long time.
constexpr std::size_t most_words_kept = 1'024;

}  // namespace

request_parser::outcome request_parser::next(std::string_view unread) {
  if (is_done_) {
    if (words_.capacity() > most_words_kept) words_ = {};
    words_.clear();
    position_ = 0;
    in_array_ = false;
    is_done_ = false;
    base_ = unread.data();
  }
  needed_ = 0;
  if (unread.empty()) return outcome::incomplete;
  if (unread.data() != base_) move_words(unread.data());
  const outcome is = unread.front() == '*' ? read_array(unread) : read_line(unread);
  is_done_ = is != outcome::incomplete;
  return is;
}

request_parser::outcome request_parser::read_array(std::string_view unread) {
  const char* const begin = unread.data();
  const char* const end = begin + unread.size();
  const char* cursor = begin + position_;
  if (!in_array_) {
    const length_line line = read_length(cursor + 1, end);
    if (line.is == length_line::state::cut) return outcome::incomplete;
    if (line.is == length_line::state::wrong) return refuse("ERR Protocol error: invalid multibulk length");
    if (!line.negative && line.value > limits_.arguments)
      return refuse("ERR Protocol error: invalid multibulk length");
    in_array_ = true;
    words_left_ = line.negative ? 0 : line.value;  // *-1 and *0 are empty requests
    cursor = line.end;
    position_ = static_cast<std::size_t>(cursor - begin);
  }

  for (; words_left_ > 0; --words_left_) {
    if (cursor == end) return outcome::incomplete;
    if (*cursor != '$') return refuse(std::string("ERR Protocol error: expected '$', got '") + *cursor + "'");
    const length_line line = read_length(cursor + 1, end);
    if (line.is == length_line::state::cut) return outcome::incomplete;
    if (line.is == length_line::state::wrong || line.negative || line.value > limits_.argument_bytes)
      return refuse("ERR Protocol error: invalid bulk length");
    const auto before = static_cast<std::size_t>(line.end - begin);
    if (before + line.value > limits_.request_bytes) return refuse("ERR Protocol error: too big request");
    if (static_cast<std::size_t>(end - line.end) < line.value + 2) {
      needed_ = before + line.value + 2;
      return outcome::incomplete;
    }
    const char* const behind = line.end + line.value;
    if (behind[0] != '\r' || behind[1] != '\n') return refuse("ERR Protocol error: invalid bulk length");
    words_.emplace_back(line.end, line.value);
    cursor = behind + 2;
    position_ = static_cast<std::size_t>(cursor - begin);
  }
  return outcome::request;
}

request_parser::outcome request_parser::read_line(std::string_view unread) {
  const std::size_t newline = unread.find('\n', position_);
  if (std::min(newline, unread.size()) > limits_.inline_bytes)
    return refuse("ERR Protocol error: too big inline request");
  if (newline == std::string_view::npos) {
    position_ = unread.size();
    return outcome::incomplete;
  }
  position_ = newline + 1;
  std::string_view line = unread.substr(0, newline);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!split_typed_line(line, typed_, words_))
    return refuse("ERR Protocol error: unbalanced quotes in request");
  if (words_.size() > limits_.arguments) return refuse("ERR Protocol error: too big inline request");
  return outcome::request;
}

request_parser::outcome request_parser::refuse(std::string why) {
  fault_ = std::move(why);
  words_.clear();
  return outcome::malformed;
}

void request_parser::move_words(const char* target) noexcept {
  for (std::string_view& word : words_) word = {target + (word.data() - base_), word.size()};
  base_ = target;
}

namespace {

constexpr bool is_blank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

std::optional<unsigned> hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

char control(char letter) noexcept {
  switch (letter) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return letter;
  }
}

class splitter {
 public:
  splitter(std::string_view line, std::string& text) : line_(line), text_(text) {}

  [[nodiscard]] bool skip_blanks() noexcept {
    while (place_ < line_.size() && is_blank(line_[place_])) ++place_;
    return place_ < line_.size();
  }

  /// @return false  a quote is not closed, or is followed by other text
  [[nodiscard]] bool read_word() {
    while (place_ < line_.size() && !is_blank(line_[place_])) {
      const char c = line_[place_++];
      if (c != '"' && c != '\'') {
        text_ += c;
        continue;
      }
      if (!(c == '"' ? read_double_quoted() : read_single_quoted())) return false;
      if (place_ < line_.size() && !is_blank(line_[place_])) return false;
    }
    return true;
  }

 private:
  bool read_double_quoted() {
    while (place_ < line_.size()) {
      const char c = line_[place_++];
      if (c == '"') return true;
      if (c == '\\' && place_ < line_.size())
        read_escape();
      else
        text_ += c;
    }
    return false;
  }

  void read_escape() {
    if (line_[place_] == 'x' && place_ + 2 < line_.size()) {
      const auto high = hex_digit(line_[place_ + 1]);
      const auto low = hex_digit(line_[place_ + 2]);
      if (high && low) {
        text_ += static_cast<char>(*high * 16 + *low);
        place_ += 3;
        return;
      }
    }
    text_ += control(line_[place_++]);
  }

  bool read_single_quoted() {
    while (place_ < line_.size()) {
      const char c = line_[place_++];
      if (c == '\'') return true;
      const bool escaped = c == '\\' && place_ < line_.size() && line_[place_] == '\'';
      text_ += escaped ? line_[place_++] : c;
    }
    return false;
  }

  std::string_view line_;
  std::string& text_;
  std::size_t place_ = 0;
};

}  // namespace

bool split_typed_line(std::string_view line, std::string& text, std::vector<std::string_view>& words) {
  text.clear();
  text.reserve(line.size());  // never longer than the line, so views stay valid
  splitter rest(line, text);
  while (rest.skip_blanks()) {
    const std::size_t begin = text.size();
    if (!rest.read_word()) return false;
    words.emplace_back(text.data() + begin, text.size() - begin);
  }
  return true;
}

}  // namespace everseen::wire
