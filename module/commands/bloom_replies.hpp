#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "everseen/core/base/verdict.hpp"

#include "module/value/filter_value.hpp"

/// Verdicts and properties as RedisBloom replies with them.
namespace everseen::redis_module {

enum class answer_shape : std::uint8_t {
  one,    ///< true or false
  array,  ///< true or false for each key
};

/// True for a fresh key; an error for a key without a verdict, for which the filter has no room.
int reply_with_added(api::context* ctx, std::span<const verdict> verdicts, growth_kind growth,
                     answer_shape shape);
/// True for a key that was seen.
int reply_with_found(api::context* ctx, std::span<const verdict> verdicts, answer_shape shape);

/// The reply of BF.INFO: all properties, or the one that a word names.    @throws bad_word  it names none
int reply_with_info(api::context* ctx, const filter_value& filter);
int reply_with_info(api::context* ctx, const filter_value& filter, std::string_view word);

/// The reply of BF.DEBUG: a line for the filter, and one for each layer.
int reply_with_layers(api::context* ctx, const filter_value& filter);

}  // namespace everseen::redis_module
