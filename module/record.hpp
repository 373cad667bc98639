#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/digest.hpp"
#include "everseen/core/image.hpp"
#include "everseen/core/partition.hpp"

#include "module/refusal.hpp"
#include "module/values.hpp"

namespace everseen::redis_module {

/// What the bytes of a manifest say, made ready for use.
struct plan {
  image::manifest manifest;
  std::string filter;  ///< its id, as names of keys have it
  hasher hash;
  std::vector<std::string> count_fields;  ///< one a segment, in the order of the manifest
};

/// A partition's state: the hash beside its segments (doc/format.md, "In Redis").
struct record {
  std::uint32_t number = 0;  ///< of the partition, as the key's name says
  std::shared_ptr<const plan> shape;
  partition_state state;  ///< the segments of the manifest and how many keys they hold
  std::uint64_t epoch = 0;
  bool sealed = false;  ///< another filter succeeds this one

  [[nodiscard]] const everseen::spec& spec() const noexcept { return shape->manifest.spec; }
};

/// Reads a state.
/// @param state  key of the hash
/// Cost: about 2 µs; a manifest that was read before is not decoded again.
[[nodiscard]] judged<record> read_record(api::context* ctx, api::string* state);

}  // namespace everseen::redis_module
