#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/format/image.hpp"
#include "everseen/core/hash/digest.hpp"
#include "everseen/core/partition/partition.hpp"

#include "module/partition/refusal.hpp"
#include "module/server/values.hpp"

namespace everseen::redis_module {

/// A decoded manifest, ready for use.
struct plan {
  image::manifest manifest;
  std::string filter;  ///< its id, as in key names
  hasher hash;
  std::vector<std::string> count_fields;  ///< one per segment, in the order of the manifest
};

/// A partition's state: the hash beside its segments (doc/format.md, "In Redis").
struct record {
  std::uint32_t number = 0;  ///< of the partition, from the key's name
  std::shared_ptr<const plan> shape;
  partition_state state;  ///< the segments of the manifest, with their key counts
  std::uint64_t epoch = 0;
  bool sealed = false;  ///< the filter has a successor

  [[nodiscard]] const everseen::spec& spec() const noexcept { return shape->manifest.spec; }
};

/// Reads the state of a partition.
/// @param state  key of the hash
/// Cost: about 2 µs; a manifest that was read before is not decoded again.
[[nodiscard]] judged<record> read_record(api::context* ctx, api::string* state);

}  // namespace everseen::redis_module
