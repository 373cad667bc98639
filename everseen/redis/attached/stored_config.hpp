#pragma once

#include <optional>
#include <string>

#include "everseen/redis/keyspace/attachment.hpp"
#include "everseen/redis/wire/reply.hpp"

/// The hash in which Redisson keeps the sizes of its filter. Redisson compares them in each call, and so does
/// everseen: a filter that was deleted and made anew with other sizes has other positions for every key.
namespace everseen::redis {

[[nodiscard]] bool has_config(const attachment& a) noexcept;

/// The key of the hash.    @pre has_config(a)
[[nodiscard]] std::string config_key(const attachment& a);
/// What a script compares with "SIZE HASHITERATIONS" of the hash; empty if there is none.
[[nodiscard]] std::string config_text(const attachment& a);
/// The command that reads the hash.    @pre has_config(a)
[[nodiscard]] std::string config_request(const attachment& a);

/// What is wrong with the reply to it; nothing if the sizes are those of the attachment.
[[nodiscard]] std::optional<std::string> config_fault(const attachment& a, const reply& r);
/// The same for what a script found: "SIZE HASHITERATIONS".
[[nodiscard]] std::string config_fault(const attachment& a, std::string_view found);

/// The sizes in the reply.
/// @throws parameter_error  there is no such hash, or the numbers in it cannot be    @throws backend_error
[[nodiscard]] compat::scheme read_config(const attachment& a, const reply& r);

}  // namespace everseen::redis
