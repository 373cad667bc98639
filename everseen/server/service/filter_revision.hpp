#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "everseen/server/registry/filter_registry.hpp"

namespace everseen::server {

/// The state of a filter at one moment, to detect later whether it has changed.
///
/// It comes from the store, so it also changes if a program other than this server adds a key. Adding a key
/// that is `seen` changes nothing.
struct filter_revision {
  /// Identifies the filter: if it is dropped and created again, it has another record. Null: there is no
  /// filter.
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
