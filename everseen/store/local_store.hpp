#pragma once

#include <memory>
#include <string_view>

#include "everseen/store/port/store.hpp"

/// The stores on this machine, which need no third-party client library.
namespace everseen {

/// Whether a URL is of such a store.
[[nodiscard]] bool is_local(std::string_view url) noexcept;

/// @pre is_local(url)    @throws  as open_store
[[nodiscard]] std::shared_ptr<store> open_local_store(std::string_view url);

}  // namespace everseen
