#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/store/port/store.hpp"

namespace everseen {

/// A store by its URL.
///
/// | URL | where filters are stored |
/// |---|---|
/// | `mem:` | in this process's memory, as long as the returned object lives |
/// | `file:DIRECTORY?sync=always,interval or never` | in a directory, one subdirectory per filter |
/// | `redis://`, `rediss://`, `unix:`, `redis+cluster://` | on Redis servers, shared by all clients |
/// | `everseen://`, `everseens://`, `everseen+unix:` | in the store of a running `everseen serve`, shared by
/// all clients |
///
/// The options of the last two are in everseen/redis/wire/redis_url.hpp. They open no connection yet.
///
/// @throws parameter_error  unknown scheme or option
/// @throws storage_error    the directory cannot be created
/// @param timeout  how long to wait for servers that do not answer; nothing: as the URL says
[[nodiscard]] std::shared_ptr<store> open_store(std::string_view url,
                                                std::optional<std::chrono::milliseconds> timeout = {});

/// A store URL for people and logs: user and password as ***. A malformed URL is hidden completely.
[[nodiscard]] std::string url_without_password(std::string_view url);

}  // namespace everseen
