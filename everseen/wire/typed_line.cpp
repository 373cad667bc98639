#include "everseen/wire/typed_line.hpp"

#include <cstddef>
#include <optional>

namespace everseen::wire {

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
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    return at_ < line_.size();
  }

  /// @return false  a quote is not closed, or is followed by other text
  [[nodiscard]] bool read_word() {
    while (at_ < line_.size() && !is_blank(line_[at_])) {
      const char c = line_[at_++];
      if (c != '"' && c != '\'') {
        text_ += c;
        continue;
      }
      if (!(c == '"' ? read_double_quoted() : read_single_quoted())) return false;
      if (at_ < line_.size() && !is_blank(line_[at_])) return false;
    }
    return true;
  }

 private:
  bool read_double_quoted() {
    while (at_ < line_.size()) {
      const char c = line_[at_++];
      if (c == '"') return true;
      if (c == '\\' && at_ < line_.size())
        read_escape();
      else
        text_ += c;
    }
    return false;
  }

  void read_escape() {
    if (line_[at_] == 'x' && at_ + 2 < line_.size()) {
      const auto high = hex_digit(line_[at_ + 1]);
      const auto low = hex_digit(line_[at_ + 2]);
      if (high && low) {
        text_ += static_cast<char>(*high * 16 + *low);
        at_ += 3;
        return;
      }
    }
    text_ += control(line_[at_++]);
  }

  bool read_single_quoted() {
    while (at_ < line_.size()) {
      const char c = line_[at_++];
      if (c == '\'') return true;
      const bool escaped = c == '\\' && at_ < line_.size() && line_[at_] == '\'';
      text_ += escaped ? line_[at_++] : c;
    }
    return false;
  }

  std::string_view line_;
  std::string& text_;
  std::size_t at_ = 0;
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
