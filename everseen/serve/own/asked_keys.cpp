#include "everseen/serve/own/asked_keys.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "everseen/core/base/bytes.hpp"
#include "everseen/wire/client_protocol.hpp"

namespace everseen::serve {

namespace {

event_time time_of(std::int64_t ms) {
  return event_time(std::chrono::milliseconds(ms));
}

/// One time a key, in milliseconds since 1970, as little-endian integers.
std::vector<event_time> unpack(std::string_view bytes, std::size_t keys) {
  if (bytes.size() != keys * wire::time_bytes)
    throw refusal{"ERR TIMES takes 8 bytes for each key: milliseconds since 1970, little-endian"};
  std::vector<event_time> times;
  times.reserve(keys);
  for (std::size_t position = 0; position < bytes.size(); position += wire::time_bytes)
    times.push_back(
        time_of(load_le<std::int64_t>(reinterpret_cast<const std::byte*>(bytes.data()) + position)));
  return times;
}

std::string_view named(std::string_view word) {
  if (word.empty()) throw syntax_error();
  return word;
}

/// Its answers are remembered, and so must be small.
void must_be_small(const asked_keys& asked) {
  if (asked.session.empty()) return;
  if (!asked.in_digits) throw refusal{"ERR a batch of a session is answered in digits: add the word DIGITS"};
  if (asked.keys.size() > wire::session_batch_keys)
    throw refusal{"ERR a batch of a session has at most " + std::to_string(wire::session_batch_keys) +
                  " keys"};
}

}  // namespace

asked_keys parse_asked_keys(word_list words) {
  using limits = std::numeric_limits<std::int64_t>;
  commands::option_reader options(words, 2);
  asked_keys asked;
  std::optional<std::string_view> packed;
  while (!options.takes("ITEMS")) {
    if (asked.times.empty() && !packed && options.takes("TIME"))
      asked.times.push_back(time_of(options.integer(limits::min(), limits::max())));
    else if (asked.times.empty() && !packed && options.takes("TIMES"))
      packed = options.value();
    else if (options.takes("OF"))
      asked.fingerprint = named(options.value());
    else if (options.takes("DIGITS"))
      asked.in_digits = true;
    else if (asked.session.empty() && options.takes("SESSION")) {
      asked.session = named(options.value());
      asked.number = static_cast<std::uint64_t>(options.integer(1, limits::max()));
    } else {
      throw commands::lacks_items();
    }
  }
  asked.keys = options.rest();
  if (asked.keys.empty()) throw wrong_arity(words[0]);
  if (packed) asked.times = unpack(*packed, asked.keys.size());
  must_be_small(asked);
  return asked;
}

}  // namespace everseen::serve
