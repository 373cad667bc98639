#include "everseen/server/own/asked_keys.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "everseen/core/base/bytes.hpp"
#include "everseen/server/own/option_reader.hpp"

namespace everseen::server {

namespace {

constexpr std::size_t time_bytes = 8;

event_time time_of(std::int64_t ms) {
  return event_time(std::chrono::milliseconds(ms));
}

/// One time a key, in milliseconds since 1970, as little-endian integers.
std::vector<event_time> unpack(std::string_view bytes, std::size_t keys) {
  if (bytes.size() != keys * time_bytes)
    throw refusal{"ERR TIMES takes 8 bytes for each key: milliseconds since 1970, little-endian"};
  std::vector<event_time> times;
  times.reserve(keys);
  for (std::size_t at = 0; at < bytes.size(); at += time_bytes)
    times.push_back(time_of(load_le<std::int64_t>(reinterpret_cast<const std::byte*>(bytes.data()) + at)));
  return times;
}

}  // namespace

asked_keys parse_asked_keys(word_list words) {
  using limits = std::numeric_limits<std::int64_t>;
  option_reader options(words, 2);
  asked_keys asked;
  std::optional<std::string_view> packed;
  while (!options.takes("ITEMS")) {
    if (asked.times.empty() && !packed && options.takes("TIME"))
      asked.times.push_back(time_of(options.integer(limits::min(), limits::max())));
    else if (asked.times.empty() && !packed && options.takes("TIMES"))
      packed = options.value();
    else if (options.takes("OF"))
      asked.fingerprint = options.value();
    else if (options.takes("DIGITS"))
      asked.in_digits = true;
    else if (options.takes("SESSION")) {
      asked.session = options.value();
      asked.number = static_cast<std::uint64_t>(options.integer(1, limits::max()));
    } else {
      throw syntax_error();
    }
  }
  asked.keys = options.rest();
  if (asked.keys.empty()) throw wrong_arity(words[0]);
  if (packed) asked.times = unpack(*packed, asked.keys.size());
  return asked;
}

}  // namespace everseen::server
