#include "everseen/core/format/file_names.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <sodium.h>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/url_text.hpp"

namespace everseen::file_names {

namespace {

/// Short enough, even with an ending, for file systems that encrypt file names and therefore allow fewer
/// bytes.
constexpr std::size_t max_spelled_bytes = 128;
constexpr std::string_view own_ending = ".new";
constexpr char hash_mark = '~';

std::string hash_of(std::string_view name) {
  std::array<std::uint8_t, crypto_hash_sha256_BYTES> sum{};
  crypto_hash_sha256(sum.data(), reinterpret_cast<const unsigned char*>(name.data()), name.size());
  return hash_mark + hex_of(sum);
}

}  // namespace

std::string of(std::string_view name) {
  if (name.size() > max_spelled_bytes) return hash_of(name);
  std::string text = percent_encoded(name);
  if (text.ends_with(own_ending)) text.replace(text.size() - own_ending.size(), 1, "%2E");
  if (text.starts_with('.')) text.replace(0, 1, "%2E");
  if (text.starts_with('-')) text.replace(0, 1, "%2D");
  return text.size() <= max_spelled_bytes ? text : hash_of(name);
}

std::optional<std::string> spelled(std::string_view file_name) {
  if (file_name.empty() || file_name.size() > max_spelled_bytes) return std::nullopt;
  auto name = percent_decoded(file_name);
  return name && of(*name) == file_name ? std::move(name) : std::nullopt;
}

bool is_hash(std::string_view file_name) noexcept {
  return file_name.size() == 1 + 2 * crypto_hash_sha256_BYTES && file_name.front() == hash_mark &&
         file_name.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

}  // namespace everseen::file_names
