#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "everseen/core/digest.hpp"
#include "everseen/core/spec.hpp"

#include "module/refusal.hpp"
#include "module/values.hpp"

namespace everseen::redis_module {

/// A filter as people name it: by the prefix and its name, `everseen:clicks`, or, in a cluster, where a
/// server has only some keys, by the state of a partition: `everseen:{00f3...9a/0}`.
struct named_filter {
  struct recipe {
    everseen::spec spec;
    hasher hash;
  };

  std::shared_ptr<const recipe> made;
  std::string beginning{};                   ///< of the states' names: `everseen:{00f3...9a/`
  std::optional<std::uint32_t> partition{};  ///< the only one that was named
  bool is_rebuilt = false;                   ///< just now: keys may be in another one, too

  [[nodiscard]] const everseen::spec& spec() const noexcept { return made->spec; }
  [[nodiscard]] std::string state(std::uint32_t number) const {
    return beginning + std::to_string(number) + "}";
  }
};

/// What only its header and its links tell, that the filter has ended, is being rebuilt or asks another one,
/// is not known where a state is named.
/// @return the refusal `gone` if there is none, or it has ended
[[nodiscard]] judged<named_filter> find_filter(api::context* ctx, api::string* name);

}  // namespace everseen::redis_module
