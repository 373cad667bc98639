#include "everseen/foreign/redisbloom/load_commands.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen::redisbloom {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} << 10;
constexpr std::uint64_t max_pair_bytes = std::uint64_t{512} << 20;  // limit of a Redis server
constexpr std::string_view begins = "*4\r\n$12\r\nBF.LOADCHUNK\r\n";
constexpr std::size_t longest_number = 20;

[[noreturn]] void refuse_file(const std::string& why) {
  throw format_error("not a file of BF.LOADCHUNK commands: " + why);
}

}  // namespace

file_reader::file_reader(image::byte_source from) : from_(std::move(from)), buffer_(buffer_bytes) {}

std::optional<file_reader::pair> file_reader::next() {
  if (in_pair_) end_pair();
  if (offset_ == end_ && !fill()) return std::nullopt;
  expect(begins);
  std::string key = word(max_key_bytes);
  if (key_ && *key_ != key) refuse_file("its commands are for the keys " + *key_ + " and " + key);
  key_ = std::move(key);
  const std::string digits = word(longest_number);
  const auto iterator = read_number<decltype(pair::iterator)>(digits);
  if (!iterator) refuse_file("an iterator is no number");
  pair next;
  next.iterator = *iterator;
  next.bytes = left_ = number('$', max_pair_bytes);
  in_pair_ = true;
  return next;
}

void file_reader::read(std::span<std::byte> into) {
  EVERSEEN_ASSERT(into.size() <= left_);
  take(into);
  left_ -= into.size();
}

void file_reader::end_pair() {
  EVERSEEN_ASSERT(left_ == 0);
  expect(command_after);
  in_pair_ = false;
}

bool file_reader::fill() {
  offset_ = 0;
  end_ = from_(buffer_);
  return end_ > 0;
}

/// Large pieces bypass the buffer.
void file_reader::take(std::span<std::byte> into) {
  while (!into.empty()) {
    std::size_t got = 0;
    if (offset_ == end_ && into.size() >= buffer_bytes) {
      got = from_(into);
    } else if (offset_ < end_ || fill()) {
      got = std::min(into.size(), end_ - offset_);
      std::memcpy(into.data(), buffer_.data() + offset_, got);
      offset_ += got;
    }
    if (got == 0) refuse_file("it is cut off");
    into = into.subspan(got);
  }
}

void file_reader::expect(std::string_view text) {
  for (const char wanted : text) {
    std::byte found{};
    take({&found, 1});
    if (static_cast<char>(found) != wanted) refuse_file("something else stands where a command should");
  }
}

std::uint64_t file_reader::number(char before, std::uint64_t most) {
  expect({&before, 1});
  std::string digits;
  for (;;) {
    std::byte next{};
    take({&next, 1});
    if (next == std::byte{'\r'}) break;
    digits += static_cast<char>(next);
    if (digits.size() > longest_number) refuse_file("a length has too many digits");
  }
  expect("\n");
  const auto value = read_number(digits);
  if (!value) refuse_file("a length is no number");
  if (*value > most) refuse_file(std::to_string(*value) + " bytes are more than there can be");
  return *value;
}

std::string file_reader::word(std::uint64_t most_bytes) {
  std::string text(number('$', most_bytes), '\0');
  take(std::as_writable_bytes(std::span(text)));
  expect(command_after);
  return text;
}

std::string command_before(std::string_view key, const file_reader::pair& p) {
  const std::string iterator = std::to_string(p.iterator);
  std::string text(begins);
  for (const std::string_view word : {key, std::string_view(iterator)})
    text.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
  return text.append("$").append(std::to_string(p.bytes)).append("\r\n");
}

}  // namespace everseen::redisbloom
