#include "everseen/core/base/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace everseen {

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

struct running_checksum::state {
  XXH3_state_t xxh3;
};

running_checksum::running_checksum() : state_(std::make_unique<state>()) {
  reset();
}
running_checksum::~running_checksum() = default;
running_checksum::running_checksum(running_checksum&&) noexcept = default;
running_checksum& running_checksum::operator=(running_checksum&&) noexcept = default;

void running_checksum::update(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::uint64_t running_checksum::value() const noexcept {
  return XXH3_64bits_digest(&state_->xxh3);
}

void running_checksum::reset() noexcept {
  XXH3_64bits_reset(&state_->xxh3);
}

}  // namespace everseen
