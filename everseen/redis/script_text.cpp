#include "everseen/redis/script_text.hpp"

#include <array>

#include <openssl/sha.h>

namespace everseen::redis::script_text {

script make(std::string text) {
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  constexpr std::string_view digits = "0123456789abcdef";
  std::string sha1;
  for (const unsigned char byte : digest) {
    sha1 += digits[byte >> 4];
    sha1 += digits[byte & 15];
  }
  return {std::move(text), std::move(sha1)};
}

}  // namespace everseen::redis::script_text
