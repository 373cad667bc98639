#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/store/port/store.hpp"

namespace everseen {

/// Opens a store by its URL.
///
/// | URL | where filters are stored |
/// |---|---|
/// | `mem:` | in this process's memory, as long as the returned object lives |
/// | `file:DIRECTORY?sync=always,interval or never` | in a directory, one subdirectory per filter |
/// | `redis://`, `rediss://`, `unix:`, `redis+cluster://` | on Redis servers, shared by all clients |
/// | `everseen://`, `everseens://`, `everseen+unix:` | in a running `everseen serve`, shared by its clients |
///
/// doc/redis.md and doc/operations.md, "As a store", have the options of the last two. This connects to no
/// server and creates no directory: the first call that needs the store fails if it is unavailable.
/// @param timeout  how long to wait for servers that do not answer; nothing: as the URL says
/// @throws parameter_error  unknown scheme or option, or a certificate of the URL cannot be read
[[nodiscard]] std::shared_ptr<store> open_store(std::string_view url,
                                                std::optional<std::chrono::milliseconds> timeout = {});

/// A store URL for people and logs: user and password as ***. A malformed URL is hidden completely.
[[nodiscard]] std::string url_without_password(std::string_view url);

}  // namespace everseen
