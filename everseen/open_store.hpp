#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/filter/filter.hpp"
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

// A named filter by the URL of its store.

/// Creates a filter in the store at `store_url`.
///
///     auto clicks = everseen::create("file:/var/lib/everseen", "clicks", {.capacity = 10'000'000});
///     if (clicks.add(event_id) == everseen::verdict::fresh) count(event);
///
/// On Redis, servers judge if all of them have the everseen module, else clients, unless `request.judge` says
/// which. The same holds for open_or_create.
/// @throws parameter_error  the URL, the name or the request is invalid
/// @throws name_taken       a filter of this name exists    @throws storage_error, backend_error
[[nodiscard]] filter create(std::string_view store_url, std::string_view name,
                            const spec_request& request = {});

/// Opens a filter in the store at `store_url`, or creates it if there is none of this name.
///
///     auto clicks = everseen::open_or_create("redis://localhost", "clicks", {.capacity = 10'000'000});
///
/// @throws  as open_store, and as open_or_create(store&, ...)
[[nodiscard]] filter open_or_create(std::string_view store_url, std::string_view name,
                                    const spec_request& request = {});

/// Opens a filter that exists in the store at `store_url`.
///
/// @param mode  as open(store&, ...)
/// @throws  as open_store, and as open(store&, ...)
[[nodiscard]] filter open(std::string_view store_url, std::string_view name, access mode = access::write);

}  // namespace everseen
