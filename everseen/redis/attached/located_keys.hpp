#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/redis/keyspace/attachment.hpp"

namespace everseen::redis {

/// The keys of a batch whose bits are in one string, or one chain of strings, of an attached filter.
struct located_keys {
  bitmap_place place;                      ///< of a growing filter its oldest string
  std::vector<std::uint32_t> origin{};     ///< where each key stood in the batch
  std::vector<std::uint64_t> positions{};  ///< of its bits as SETBIT numbers them, one a probe, key after key
};

/// The keys by string, in their order.
/// @throws parameter_error  the funnel of the filter cannot read a key
[[nodiscard]] std::vector<located_keys> locate(const attachment& a, std::span<const std::string_view> keys);

}  // namespace everseen::redis
