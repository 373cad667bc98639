#include "everseen/stream/file/fingerprint.hpp"

#include <array>
#include <charconv>

#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/digest.hpp"

namespace everseen {

std::string fingerprint(std::string_view bytes) {
  const digest hashed = hasher(hash_kind::xxh3, hash_seed{})(bytes);
  std::array<char, 48> text{};
  char* end = std::to_chars(text.data(), text.data() + 20, bytes.size()).ptr;
  *end++ = ':';
  end = std::to_chars(end, text.data() + text.size(), hashed.low, 16).ptr;
  return {text.data(), end};
}

std::size_t fingerprinted_bytes(std::string_view print, std::string_view name) {
  std::size_t bytes = 0;
  const char* const last = print.data() + print.size();
  const auto [end, bad] = std::from_chars(print.data(), last, bytes);
  if (bad != std::errc{} || end == last || *end != ':' || bytes > max_fingerprinted)
    throw format_error("the checkpoint of " + std::string(name) + " is damaged; begin another job");
  return bytes;
}

}  // namespace everseen
