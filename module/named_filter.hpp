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

/// A filter as people name it: by its header, `everseen:clicks`, or, in a cluster, where a server has only
/// some partitions, by the state of one: `everseen:{clicks/1234/0}`.
struct named_filter {
  struct recipe {
    everseen::spec spec;
    hasher hash;
  };

  std::shared_ptr<const recipe> made;
  std::string beginning{};                   ///< of the states' names: `everseen:{clicks/1234/`
  std::optional<std::uint32_t> partition{};  ///< the only one that was named

  [[nodiscard]] const everseen::spec& spec() const noexcept { return made->spec; }
  [[nodiscard]] std::string state(std::uint32_t number) const {
    return beginning + std::to_string(number) + "}";
  }
};

/// @return the refusal `gone` if the key is neither    @throws format_error, parameter_error  it is damaged
[[nodiscard]] judged<named_filter> find_filter(api::context* ctx, api::string* name);

}  // namespace everseen::redis_module
