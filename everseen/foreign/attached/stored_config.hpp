#pragma once

#include <optional>
#include <string>

#include "everseen/foreign/attached/attachment.hpp"
#include "everseen/redis/wire/reply.hpp"

/// The hash in which Redisson stores the sizes of its filter. Redisson compares them in each call, and so
/// does everseen: if a filter was deleted and created again with other sizes, every key has other positions.
namespace everseen::redis {

[[nodiscard]] bool has_config(const attachment& a) noexcept;

/// The key of the hash.    @pre has_config(a)
[[nodiscard]] std::string config_key(const attachment& a);
/// What a script compares with "SIZE HASHITERATIONS" of the hash; empty if there is none.
[[nodiscard]] std::string config_text(const attachment& a);
/// The command that reads the hash.    @pre has_config(a)
[[nodiscard]] std::string config_request(const attachment& a);

/// The fault in its reply; nothing if the sizes are those of the attachment.
[[nodiscard]] std::optional<std::string> config_fault(const attachment& a, const reply& r);
/// The same for sizes found by a script: "SIZE HASHITERATIONS".
[[nodiscard]] std::string config_fault(const attachment& a, std::string_view found);

/// The sizes in the reply.
/// @throws parameter_error  there is no such hash, or its numbers are impossible    @throws backend_error
[[nodiscard]] foreign::scheme read_config(const attachment& a, const reply& r);

}  // namespace everseen::redis
