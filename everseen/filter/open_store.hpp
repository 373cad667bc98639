#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "everseen/store/store.hpp"

namespace everseen {

/// A store by its URL.
///
/// | URL | filters live |
/// |---|---|
/// | `mem:` | in this process's memory, as long as the returned object |
/// | `file:DIRECTORY?sync=always,interval or never` | in a directory, one subdirectory a filter |
/// | `redis://`, `rediss://`, `unix:`, `redis+cluster://` | on Redis servers, shared: see
/// everseen/redis/wire/redis_url.hpp |
///
/// @throws parameter_error  unknown scheme or option    @throws storage_error  the directory cannot be made
/// A Redis URL connects to nothing yet.
[[nodiscard]] std::shared_ptr<store> open_store(std::string_view url);

/// The URL of a store for people and logs: user and password as ***, of a URL that makes no sense all of it.
[[nodiscard]] std::string url_without_password(std::string_view url);

}  // namespace everseen
