#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/foreign/foreign_file.hpp"
#include "everseen/foreign/guava/guava.hpp"

#include "test/support/model/guava_filter.hpp"
#include "test/support/model/redisbloom_chain.hpp"

/// Files of other systems as strings, by their own codecs.
namespace everseen::test {

inline std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A pipe that returns a few bytes at a time.    @pre `text` outlives it
inline foreign_source pipe_of(const std::string& text, std::size_t at_a_time = 100'000) {
  return {[rest = std::string_view(text), at_a_time](std::span<std::byte> into) mutable {
    const std::size_t count = std::min({into.size(), rest.size(), at_a_time});
    std::ranges::copy(std::as_bytes(std::span(rest.substr(0, count))), into.begin());
    rest.remove_prefix(count);
    return count;
  }};
}

/// The same as a file, whose length is known.
inline foreign_source file_of(const std::string& text) {
  foreign_source source = pipe_of(text);
  source.bytes = text.size();
  return source;
}

inline std::string stream_of(const foreign::guava::filter& f) {
  return as_text(foreign::guava::encode(f));
}

inline std::string word(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

/// One BF.LOADCHUNK command.
inline std::string load_chunk(std::string_view key, std::int64_t iterator, std::string_view bytes) {
  return "*4\r\n" + word("BF.LOADCHUNK") + word(key) + word(std::to_string(iterator)) + word(bytes);
}

inline std::string commands_of(const redisbloom::chain& chain, std::string_view key = "bloom",
                               std::size_t chunk_bytes = redisbloom::max_chunk_bytes) {
  std::string text;
  redisbloom::dumper out(chain, chunk_bytes);
  while (const auto each = out.next()) text += load_chunk(key, each->iterator, as_text(each->data));
  return text;
}

/// As RedisBloom creates it without NOROUND: 2^11 bits where 1,102 would suffice, and room for more keys.
inline redisbloom::chain chain_of_powers_of_two() {
  auto made = redisbloom::chain::reserve({0.01, 100, 2, true});
  made.flags &= ~redisbloom::flags::exact_size;
  redisbloom::layer& first = made.layers[0];
  first.log2_bits = 11;
  first.bits.assign(256, std::byte{0});
  first.capacity = 185;
  return made;
}

inline image::byte_sink into(std::string& text) {
  return [&text](std::span<const std::byte> bytes) { text += as_text(bytes); };
}

inline std::string exported_guava(const filter& f) {
  std::string text;
  export_guava(f, into(text));
  return text;
}

inline std::string exported_redisbloom(const filter& f, std::string_view key = "bloom") {
  std::string text;
  export_redisbloom(f, key, into(text));
  return text;
}

}  // namespace everseen::test
