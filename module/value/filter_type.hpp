#pragma once

#include <memory>

#include "module/value/filter_value.hpp"

/// The two data types of filters: `everseen1`, and RedisBloom's `MBbloom--` for filters of its layout.
///
/// In an RDB, a value of our type is its chunks, each as one string: the header, then the bits in pieces, to
/// the end that the header announces. RedisBloom's is encoded as RedisBloom does (filter_type.cpp), so it
/// can be loaded there again. In an AOF, both are chunks as commands of load_command().
namespace everseen::redis_module {

/// Declares the types to the server that loads the module.
/// @param with_redisbloom  RedisBloom's, too: no other module of the server has it
/// @return false  the server refused one of them
[[nodiscard]] bool declare_filter_types(api::context* ctx, bool with_redisbloom);

/// The command that loads chunks of such a filter: ours for our type, so that it is there beside RedisBloom.
[[nodiscard]] const char* load_command(const filter_value& filter) noexcept;

/// The filter of a key.    @return null  the key does not exist, or has another type
[[nodiscard]] filter_value* filter_of(api::key* key) noexcept;

/// Makes a filter the value of a key.    @pre the key is open for writing
/// @return the value, which the server owns from now on
filter_value& put(api::key* key, std::unique_ptr<filter_value> filter) noexcept;

}  // namespace everseen::redis_module
