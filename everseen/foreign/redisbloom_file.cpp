#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/format/stream_image.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/filter/filter_chunks.hpp"
#include "everseen/foreign/foreign_file.hpp"

namespace everseen::redisbloom {

namespace {

/// A RedisBloom filter as a file: the BF.LOADCHUNK commands that recreate it, as a client sends them.
///
///     *4 CRLF  $12 CRLF BF.LOADCHUNK CRLF  $n CRLF key CRLF  $n CRLF iterator CRLF  $n CRLF bytes CRLF
///
/// One command for each pair of redisbloom.hpp, in order. `redis-cli --pipe < FILE` loads it into a
/// server; doc/format.md shows how to make such a file from a filter on a server.
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
inline constexpr std::string_view command_after = "\r\n";

constexpr std::size_t buffer_bytes = std::size_t{64} << 10;
constexpr std::uint64_t max_pair_bytes = std::uint64_t{512} << 20;  // limit of a Redis server
constexpr std::string_view begins = "*4\r\n$12\r\nBF.LOADCHUNK\r\n";
constexpr std::size_t longest_number = 20;

[[noreturn]] void refuse_file(const std::string& why) {
  throw format_error("not a file of BF.LOADCHUNK commands: " + why);
}

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

}  // namespace

}  // namespace everseen::redisbloom

namespace everseen {

namespace {

[[noreturn]] void refuse_redisbloom(const std::string& why) {
  throw format_error("not a RedisBloom filter that everseen can continue: " + why);
}

constexpr std::size_t longest_header_bytes = redisbloom::header_bytes(growth::max_layers);

std::vector<std::byte> read_header(redisbloom::file_reader& in) {
  const auto pair = in.next();
  if (!pair || pair->iterator != 1) refuse_redisbloom("it does not begin with the header, chunk 1");
  if (pair->bytes > longest_header_bytes)
    throw parameter_error(
        "the filter has more than " + std::to_string(growth::max_layers) +
        " layers, which is more than RedisBloom's own can have; create a larger one and migrate its keys");
  std::vector<std::byte> header(pair->bytes);
  in.read(header);
  return header;
}

}  // namespace

void import_redisbloom(store& into, std::string_view name, const foreign_source& from) {
  redisbloom::file_reader in(from.read);
  const std::vector<std::byte> header = read_header(in);
  const redisbloom::announced_chain announced = redisbloom::decode_header(header);
  const std::uint64_t bytes =
      std::accumulate(announced.lengths.begin(), announced.lengths.end(), std::uint64_t{0});
  if (from.bytes && bytes > *from.bytes)
    refuse_redisbloom("its header promises " + std::to_string(bytes) + " bytes, and the file has " +
                      std::to_string(*from.bytes));
  chunk_loader loader(into, name, header);
  redisbloom::chunk_order order(announced.lengths);  // a file has each chunk once, in order
  while (const auto pair = in.next()) {
    (void)order.take(pair->iterator, pair->bytes);
    for (auto rest = loader.place(pair->iterator, pair->bytes); !rest.empty();
         rest = rest.subspan(std::min(rest.size(), foreign_buffer_bytes))) {
      const auto part = rest.first(std::min(rest.size(), foreign_buffer_bytes));
      in.read(part);
      reverse_bits_of_bytes(part, part);
    }
  }
  order.must_be_complete();
  loader.commit();
}

namespace {

void write_text(const image::byte_sink& out, std::string_view text) {
  out(std::as_bytes(std::span(text)));
}

/// Writes the bits of one layer after another, in pairs as RedisBloom would split them.
class layer_writer {
 public:
  layer_writer(std::string_view key, const image::byte_sink& out)
      : key_(key), out_(out), chunk_(foreign_buffer_bytes) {}

  void write(std::span<const std::byte> bits) {
    write_pairs(bits.size(), [&bits](std::span<std::byte> into) {
      reverse_bits_of_bytes(bits.first(into.size()), into);
      bits = bits.subspan(into.size());
    });
  }
  /// For a layer without keys.
  void write_zeros(std::uint64_t bytes) {
    write_pairs(bytes, [](std::span<std::byte> into) { std::ranges::fill(into, std::byte{0}); });
  }

 private:
  /// @param fill  produces the next bytes in RedisBloom's bit order
  template <typename Fill>
  void write_pairs(std::uint64_t bytes, Fill fill) {
    while (bytes > 0) {
      const std::uint64_t pair = std::min<std::uint64_t>(bytes, redisbloom::max_chunk_bytes);
      iterator_ += static_cast<std::int64_t>(pair);
      write_text(out_, redisbloom::command_before(key_, {iterator_, pair}));
      for (std::uint64_t left = pair; left > 0;) {
        const auto part = std::span(chunk_).first(std::min<std::uint64_t>(left, foreign_buffer_bytes));
        fill(part);
        out_(part);
        left -= part.size();
      }
      write_text(out_, redisbloom::command_after);
      bytes -= pair;
    }
  }

  std::string_view key_;
  const image::byte_sink& out_;
  std::vector<std::byte> chunk_;
  std::int64_t iterator_ = 1;
};

}  // namespace

void export_redisbloom(const filter& f, std::string_view key, const image::byte_sink& output) {
  const redisbloom_announcement announced = announce_redisbloom(f);
  const std::vector<std::byte> header = redisbloom::encode_header(announced.chain);
  write_text(output, redisbloom::command_before(key, {1, header.size()}));
  output(header);
  write_text(output, redisbloom::command_after);

  layer_writer out(key, output);
  bool has_bits = false;
  visit_announced(f, announced, [&](std::size_t /*layer*/, std::span<const std::byte> bits) {
    has_bits = true;
    out.write(bits);
  });
  if (!has_bits)
    for (const std::uint64_t bytes : announced.chain.lengths) out.write_zeros(bytes);
}

}  // namespace everseen
