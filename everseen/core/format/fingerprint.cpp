#include "everseen/core/format/fingerprint.hpp"

#include <array>
#include <cstdint>

#include <sodium.h>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/format/image.hpp"

namespace everseen {

std::string fingerprint_of(const spec& s) {
  spec anywhere = s;
  anywhere.judge = judge_kind::server;  // a copy on other servers may have another judge
  const auto bytes = image::encode_spec(anywhere);
  std::array<std::uint8_t, 16> hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size(), nullptr, 0);
  return hex_of(hash);
}

}  // namespace everseen
