#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/spec.hpp"

#include "module/partition/refusal.hpp"
#include "module/server/values.hpp"

namespace everseen::redis_module {

/// A filter as people name it: prefix and name, `everseen:clicks`. In a cluster, where a server has only some
/// keys: the state of a partition, `everseen:{00f3...9a/0}`.
struct named_filter {
  struct recipe {
    everseen::spec spec;
    hasher hash;
  };

  std::shared_ptr<const recipe> made;
  std::string beginning{};                   ///< prefix of the states' names: `everseen:{00f3...9a/`
  std::optional<std::uint32_t> partition{};  ///< set if a single partition was named
  bool is_rebuilt = false;                   ///< in progress: keys may be in another filter, too

  [[nodiscard]] const everseen::spec& spec() const noexcept { return made->spec; }
  [[nodiscard]] std::string state(std::uint32_t number) const {
    return beginning + std::to_string(number) + "}";
  }
};

/// Finds a filter by its name or by a state. If a state is given, header and links are not read: whether the
/// filter has expired, is being rebuilt or asks another one is then unknown.
/// @return the refusal `gone` if there is no such filter, or it has expired
[[nodiscard]] judged<named_filter> find_filter(api::context* ctx, api::string* name);

}  // namespace everseen::redis_module
