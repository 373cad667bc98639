#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "everseen/server/registry/filter_registry.hpp"

namespace everseen::server {

/// What a filter was at a moment, to find out later whether it has changed.
///
/// It is what the store says, so it also differs once a program other than this server has added a key. A key
/// that was seen changes nothing.
struct filter_revision {
  /// Of this life of the filter: one that was dropped and created again has another. Null: there is none.
  std::shared_ptr<const filter_record> of{};
  std::string identity{};   ///< filter_facts::identity
  std::uint64_t state = 0;  ///< a checksum of its slices, layers, counts of keys, and of its end
  friend bool operator==(const filter_revision&, const filter_revision&) = default;
};

/// Opens the filter if there is one. Waits for the store.
/// @throws storage_error  other clients replace it again and again
/// @throws error  as filter_registry::open and store::facts
[[nodiscard]] filter_revision revision_of(filter_registry& filters, std::string_view key);

}  // namespace everseen::server
